import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../../src/cli/program.ts';

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
  // The second is npm's own, the first a word.
  const others = new Set(['packages', 'pack']);
  for (const name of named) if (!others.has(name)) assert.ok(name in scripts, name);
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

/** What a page tells to type, in lines of their own and in the running text, as words behind `echelon`. */
function typedIn(page: string): string[][] {
  const lines = [...page.matchAll(/^ *(?:npm run -s )?echelon (?:-- )?(.*)$/gm)];
  const inline = [...page.matchAll(/`(?:npm run -s )?echelon (?:-- )?([^`\n]+)`/g)];
  return [...lines, ...inline].map(([, rest]) =>
    // Up to a remark in a column of its own, a pipe or another file.
    rest!
      .split(/\s{2,}|\s[#>|&]|\s*\|\s|\/docs/)[0]!
      .replace(/[[\]]/g, '')
      .split(/\s+(?=(?:[^"']|"[^"]*"|'[^']*')*$)/)
      .filter(Boolean),
  );
}

test('every command that the README and the docs tell to type exists, with its options', () => {
  let seen = 0;
  for (const file of ['README.md', ...globSync('docs/**/*.md')]) {
    for (const words of typedIn(readFileSync(file, 'utf8'))) {
      const where = `${file}: echelon ${words.join(' ')}`;
      const rest = [...words];
      let at: Command = createProgram({ line() {}, remark() {} });
      for (let next: Command | undefined = at; next !== undefined; rest.shift()) {
        at = next;
        next = at.commands.find((sub) => sub.name() === rest[0]);
        if (next === undefined) break;
      }
      if (rest[0] !== '--help') assert.ok(at.parent !== null, `no such command in ${where}`);
      const known = new Set(at.options.flatMap(({ short, long }) => [short, long]).concat('--help'));
      for (const word of rest.filter((one) => /^--?[a-z]/.test(one)))
        assert.ok(known.has(word), `no option ${word} in ${where}`);
      seen++;
    }
  }
  assert.ok(seen > 50, `${seen} found`);
});

test('the figures of the README are those of the pages that were measured', () => {
  const backed: [file: string, theirs: RegExp, ours: (...found: string[]) => string][] = [
    ['docs/evidence/mutants.md', /\*\*(\d+ of \d+) caught/, (caught) => `planted bugs caught | ${caught} |`],
    ['docs/evidence/mutants.md', /clean batches with ([\d,]+) rows/, (rows) => `ok, ${rows} rows, 0 wrong`],
    ['docs/evidence/mutants.md', /Of (\d+) clean batches/, (batches) => `${batches} of ${batches} ok`],
    [
      'docs/evidence/detection-power.md',
      /^\| 1e-4 \|.*\| ([\d.]+ %) \| [\d.]+ % \|$/m,
      (share) => `is found | ${share},`,
    ],
    [
      'docs/evidence/detection-power.md',
      /^\| 1e-3 \|.*\| ([\d.]+ %) \| [\d.]+ % \|$/m,
      (share) => `, ${share} |`,
    ],
    [
      'docs/evidence/detection-power.md',
      /^\| 1e-4 \|.*\| ([\d.]+ %) \|$/m,
      (share) => `algebraic forms | ${share},`,
    ],
    ['docs/evidence/detection-power.md', /^\| 1e-3 \|.*\| ([\d.]+ %) \|$/m, (share) => `, ${share} |`],
    ['docs/evidence/kernel.md', /one thread +(\d+)\.\d+ ns\/step at 1000000/, (ns) => `${ns} ns a step`],
    ['docs/evidence/kernel.md', /whole batch: (\d\.\d)\d × as long/, (times) => `plain C ${times} × as long`],
    ['docs/evidence/kernel.md', /two threads +([\d.]+) ×/, (times) => `two threads ${times} ×`],
    [
      'docs/guides/operating.md',
      /durable submissions at 50 connections.*\| ([\d.]+) \| /,
      (rate) => `| ${rate} of its rate;`,
    ],
    ['docs/guides/operating.md', /their p99;.*\| (\d+ ms) \| /, (p99) => `p99 ${p99} (25 were wanted)`],
    [
      'docs/guides/operating.md',
      /`Launch` received.*\| (\d+)\.\d ms \| /,
      (p99) => `p99 ${p99} ms | the same`,
    ],
    ['docs/guides/operating.md', /claim and end \| ([\d.]+) ×/, (claim) => `to 10³ | ${claim}, `],
    ['docs/guides/operating.md', /^\| cancel \| ([\d.]+) ×/m, (cancel) => `, ${cancel}, `],
    ['docs/guides/operating.md', /a page of 50; of one state \| ([\d.]+) ×/, (page) => `, ${page} × |`],
  ];
  for (const [file, theirs, ours] of backed) {
    const [, ...found] = theirs.exec(readFileSync(file, 'utf8')) ?? [];
    assert.ok(found.length > 0, `${file} lacks ${theirs}`);
    assert.ok(readme.includes(ours(...found)), `the README lacks "${ours(...found)}" of ${file}`);
  }
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
