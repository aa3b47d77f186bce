import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';

const readme = readFileSync('README.md', 'utf8');
const overview = readFileSync('docs/explanation/overview.md', 'utf8');

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
  const named = [...readme.matchAll(/npm (?:run (?:-s )?)?([a-z][a-z:-]*)/g)].map(([, name]) => name!);
  assert.ok(named.length >= 5);
  // The second is npm's own, the first a word.
  const others = new Set(['packages', 'pack']);
  for (const name of named) if (!others.has(name)) assert.ok(name in scripts, name);
});

test('the README has at most 700 words, and its first screen at most 200', () => {
  const words = (text: string) => text.split(/\s+/).filter(Boolean).length;
  assert.ok(words(readme) <= 700, `${words(readme)} words`);
  const first = readme.slice(0, readme.indexOf('\n## '));
  assert.ok(words(first) <= 200, `${words(first)} words`);
  for (const command of ['npm run demo', 'npm test']) assert.ok(first.includes(`\n${command} `), command);
});

test('the first command of the README names a program of the Python package and a folder that verifies', () => {
  const [, source, program, folder] = /^uvx --from (\S+) (\S+) (\S+)$/.exec(commands[0]!)!;
  const project = readFileSync(join(source!, 'pyproject.toml'), 'utf8');
  assert.match(project, new RegExp(`^"?${program}"? = `, 'm'));
  const { status, stdout, stderr } = run(`verify ${folder}`);
  assert.equal(status, 0, stdout + stderr);
});

test('the golden files verify with the figures that the overview states', () => {
  const [, batches, rows] = /batches of the official estimators \| (.+) ok, ([\d,]+ rows), 0 wrong \|/.exec(
    overview,
  )!;
  const { status, stdout } = run(`verify ${globSync('test/golden/*.{json,gz}').join(' ')}`);
  assert.equal(status, 0, stdout);
  assert.match(stdout, new RegExp(`${batches} batches ok; ${rows}: .* 0 wrong`));
});

test('the report that the README shows is what the program prints', () => {
  const shown = /```console\n([\s\S]*?)```/.exec(readme)![1]!;
  for (const block of shown.split('$ ').slice(1)) {
    const [command, ...lines] = block.trim().split('\n');
    const args = command!
      .replace(/^echelon /, '')
      .match(/"[^"]*"|\S+/g)!
      .map((word) => word.replaceAll('"', ''));
    const { stdout } = spawnSync(process.execPath, ['src/cli/main.ts', ...args], { encoding: 'utf8' });
    assert.ok(stdout.includes(lines.join('\n')), stdout);
  }
});

test('the calls for a trainer write a file that verifies', (t) => {
  const page = readFileSync('docs/guides/batch-from-a-trainer.md', 'utf8');
  const snippet = /```python\n([\s\S]*?)```/.exec(page)![1]!;
  const folder = mkdtempSync(join(tmpdir(), 'echelon-snippet-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const trainer = `
scores = [1.0, 0.0, 0.0, 0.0]
step, loss, path, prompt_ids, response_ids = 3, 0.5, "checkpoint", ["a"] * 4, ["a1", "a2", "a3", "a4"]
advantages = [(score - 0.25) / (0.5 + 1e-6) for score in scores]
`;
  const python = spawnSync(process.env.ECHELON_PYTHON ?? 'python3', ['-c', trainer + snippet], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, PYTHONPATH: resolve('deploy/capture') },
  });
  assert.equal(python.status, 0, python.stderr);
  const { stdout, status } = run(`verify ${join(folder, 'echelon-capture')}`);
  assert.equal(status, 0, stdout);
  assert.match(stdout, /4 exact/);
});

test('every command of echelon that it names has help, and every file is there', () => {
  const named = [...readme.matchAll(/echelon (?:-- )?([a-z]+)\b/g)].map(([, name]) => name!);
  const help = run('--help').stdout;
  for (const name of named)
    if (readme.includes(`\`echelon ${name}\``)) assert.match(help, new RegExp(`^ +${name}\\b`, 'm'));
  for (const [, file] of readme.matchAll(/\b((?:deploy|test|docs)\/[\w./-]+\.\w+)/g))
    assert.ok(existsSync(file!), file);
});

/** The commands of a page, in code blocks and in the text, as the words after `echelon`. */
function typedIn(page: string): string[][] {
  const lines = [...page.matchAll(/^ *(?:[A-Z_]+=\S+ )?(?:npm run -s |bin\/)?echelon (?:-- )?(.*)$/gm)];
  const inline = [...page.matchAll(/`(?:npm run -s |bin\/)?echelon (?:-- )?([^`\n]+)`/g)];
  return [...lines, ...inline].map(([, rest]) =>
    // Up to a remark in a column of its own, a pipe or another file.
    rest!
      .split(/\s{2,}|\s[#>|&]|\s*\|\s|\/docs/)[0]!
      .replace(/[[\]]/g, '')
      .split(/\s+(?=(?:[^"']|"[^"]*"|'[^']*')*$)/)
      .filter(Boolean),
  );
}

test('every command that the README and the docs tell to type exists, with its options', async () => {
  const program = await createProgram({ line() {}, remark() {} });
  let seen = 0;
  for (const file of ['README.md', ...globSync('docs/**/*.md')]) {
    for (const words of typedIn(readFileSync(file, 'utf8'))) {
      const where = `${file}: echelon ${words.join(' ')}`;
      // The text around a placeholder says which command it is.
      if (words[0] === 'COMMAND') continue;
      const rest = [...words];
      let at: Command = program;
      for (let next: Command | undefined = at; next !== undefined; rest.shift()) {
        at = next;
        next = at.commands.find((sub) => [sub.name(), ...sub.aliases()].includes(rest[0]!));
        if (next === undefined) break;
      }
      // A group runs its default command.
      if (at.parent !== null) at = at.commands.find((sub) => sub.name() === 'ls') ?? at;
      // A page of `contributing` adds a command.
      if (/^\w/.test(rest[0] ?? '') && !file.startsWith('docs/contributing/'))
        assert.ok(at.registeredArguments.length > 0, `no such command in ${where}`);
      if (!['--help', '--version'].includes(rest[0]!))
        assert.ok(at.parent !== null, `no such command in ${where}`);
      const known = new Set(
        at.options.flatMap(({ short, long }) => [short, long]).concat('--help', '--version'),
      );
      for (const word of rest.filter((one) => /^--?[a-z]/.test(one)))
        assert.ok(known.has(word), `no option ${word} in ${where}`);
      seen++;
    }
  }
  assert.ok(seen > 50, `${seen} found`);
});

test('the figures of the README and the overview are those of the pages that were measured', () => {
  const stated = `${readme}${overview}`;
  const backed: [file: string, theirs: RegExp, ours: (...found: string[]) => string][] = [
    ['docs/evidence/mutants.md', /\*\*(\d+ of \d+) caught/, (caught) => `planted bugs caught | ${caught} |`],
    ['docs/evidence/mutants.md', /\*\*(\d+ of \d+) caught/, (caught) => `${caught} caught, and`],
    [
      'docs/evidence/mutants.md',
      /clean batches with ([\d,]+) rows/,
      (rows) => `with ${rows} rows and 0 wrong`,
    ],
    ['docs/evidence/mutants.md', /Of (\d+) clean batches/, (all) => `${all} of ${all} golden batches ok`],
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
  ];
  for (const [file, theirs, ours] of backed) {
    const [, ...found] = theirs.exec(readFileSync(file, 'utf8')) ?? [];
    assert.ok(found.length > 0, `${file} lacks ${theirs}`);
    assert.ok(stated.includes(ours(...found)), `no page states "${ours(...found)}" of ${file}`);
  }
});

test('the table of folders names existing folders, and all of src', () => {
  const contributing = readFileSync('CONTRIBUTING.md', 'utf8');
  const table = contributing.slice(contributing.indexOf('| folder |'));
  const folders = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  for (const folder of folders) assert.ok(existsSync(folder), folder);
  for (const entry of readdirSync('src', { withFileTypes: true }))
    if (entry.isDirectory())
      assert.ok(folders.includes(`src/${entry.name}`), `src/${entry.name} is not in the table`);
});
