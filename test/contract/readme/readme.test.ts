import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const readme = readFileSync('README.md', 'utf8');

/** Commands of the README's shell blocks, without their remarks. */
const commands = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block]) => block!.split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter(Boolean);

/** Runs a command of the README as the checkout's CLI would, without the set-up before it. */
function run(command: string) {
  const args = command.replace(/^npm run -s echelon -- /, '').split(' ');
  return spawnSync(process.execPath, ['src/cli/main.ts', ...args], { encoding: 'utf8' });
}

test('every npm script of the README exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const named = [...readme.matchAll(/npm (?:run (?:-s )?)?([a-z:]+)/g)].map(([, name]) => name!);
  assert.ok(named.length >= 5);
  for (const name of named) if (name !== 'packages') assert.ok(name in scripts, name);
});

test('its help and verify lines work as they stand', () => {
  const cheap = commands.filter((line) => / -- (--help|verify )/.test(line));
  assert.equal(cheap.length, 2);
  for (const command of cheap) {
    const { status, stderr } = run(command);
    assert.equal(status, 0, `${command}\n${stderr}`);
  }
});

test('every command of echelon that it names has help, and every file is there', () => {
  const named = [...readme.matchAll(/echelon (?:-- )?([a-z]+)\b/g)].map(([, name]) => name!);
  const help = run('--help').stdout;
  for (const name of named)
    if (readme.includes(`\`echelon ${name}\``)) assert.match(help, new RegExp(`^ +${name}\\b`, 'm'));
  for (const [, file] of readme.matchAll(/\b((?:deploy|test|docs)\/[\w./-]+\.\w+)/g))
    assert.ok(existsSync(file!), file);
});

test('the folder table names what is there, and all of src', () => {
  const table = readme.slice(readme.indexOf('| folder |'));
  const folders = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  for (const folder of folders) assert.ok(existsSync(folder), folder);
  const inner = new Set(['config', 'observe', 'dashboard']);
  for (const entry of readdirSync('src', { withFileTypes: true })) {
    if (!entry.isDirectory() || inner.has(entry.name)) continue;
    assert.ok(folders.includes(`src/${entry.name}`), `src/${entry.name} is not in the README's table`);
  }
});
