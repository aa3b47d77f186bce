/**
 * Runs one bench: `main.ts NAME [arguments]` loads ./NAME.ts and calls its `run(arguments)`. `npm run bench --
 * NAME …` leads here.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const [name, ...args] = process.argv.slice(2);
const here = new URL('./', import.meta.url);

const names = readdirSync(here)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .filter((file) => /export (async )?function run\(/.test(readFileSync(new URL(file, here), 'utf8')))
  .map((file) => file.slice(0, -'.ts'.length));

if (name === undefined || !names.includes(name) || !existsSync(new URL(`${name}.ts`, here))) {
  console.error(`usage: npm run bench -- NAME [arguments]\nbenches: ${names.join(', ')}`);
  process.exitCode = name === '--help' ? 0 : 2;
} else {
  const bench = (await import(new URL(`${name}.ts`, here).href)) as {
    run(args: string[]): Promise<void> | void;
  };
  await bench.run(args);
}
