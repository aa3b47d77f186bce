// Makes every generated file anew: those in the repository, the sources that are not, and the pages in docs/gen. With --check it changes
// no file of the repository and fails if one would have changed.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { GENERATED } from './generated.ts';
import { makeSources } from './sources.mjs';

const check = process.argv.includes('--check');
const snapshot = (): Map<string, string> =>
  new Map(globSync(GENERATED).map((file) => [file, readFileSync(file, 'utf8')]));

await makeSources();
const before = snapshot();
for (const script of globSync('scripts/generate/*.{sh,ts}').sort()) {
  const command = script.endsWith('.sh') ? 'bash' : process.execPath;
  const { status } = spawnSync(command, [script], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` },
  });
  if (status !== 0) {
    console.error(`generate: ${script} failed`);
    process.exit(1);
  }
}
const after = snapshot();
const changed = [...after].filter(([file, text]) => before.get(file) !== text).map(([file]) => file);
if (!check || changed.length === 0) process.exit(0);
for (const [file, text] of before) writeFileSync(file, text);
console.error(
  `generate: not up to date: ${changed.join(', ')}\nRun \`npm run generate\` and commit what changes.`,
);
process.exit(1);
