import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS, loaded } from '../../../src/cli/commands.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { keptOutput } from '../../support/cli.ts';

const entries = COMMANDS.flatMap(([, group]) => group);

test('every entry loads the command of its name and aliases', async () => {
  for (const entry of entries) {
    const command = await loaded(entry, { output: keptOutput(), streams: process });
    assert.deepEqual([command.name(), command.alias()], [entry.name, entry.alias], entry.name);
    assert.equal(command.summary(), entry.summary);
  }
});

test('a summary fits a line of 80 columns beside the longest name', () => {
  for (const { name, summary } of entries) assert.ok(summary.length <= 52, `${name}: ${summary}`);
});

test('the program loads only the command that the arguments name', async () => {
  const loadedOnes = async (...argv: string[]) =>
    (await createProgram(keptOutput(), { argv })).commands
      .filter((command) => command.description() !== '')
      .map((command) => command.name());
  assert.deepEqual(await loadedOnes('--help'), []);
  assert.deepEqual(await loadedOnes('ls', '--json'), ['ls']);
  assert.deepEqual(await loadedOnes('cluster', 'add'), ['clusters']);
  assert.deepEqual(await loadedOnes('help', 'sweeps'), ['help', 'sweeps']);
  assert.equal((await loadedOnes('completion', 'bash')).length, entries.length);
});

/** Prints the files, and the modules of Node, that the process has loaded when it ends. */
const COUNTING = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load(url, context, next) { files.push(url); return next(url, context); } });
  process.on('exit', () => process.stderr.write(JSON.stringify([...files, ...process.moduleLoadList])));
`)}`;

test('the program starts with few modules: up to 31 files for --help, up to 60 for ls', () => {
  const root = join(import.meta.dirname, '../../..');
  const loadedBy = (...args: string[]): string[] => {
    const argv = ['--import', COUNTING, join(root, 'bin/start.mjs'), ...args];
    const { stderr } = spawnSync(process.execPath, argv, {
      cwd: root,
      encoding: 'utf8',
      env: { HOME: root },
    });
    return JSON.parse(stderr.slice(stderr.indexOf('["'))) as string[];
  };
  for (const [args, most] of [
    [['--help'], 31],
    [['ls', '--state-dir', '/nowhere'], 60],
  ] as const) {
    const all = loadedBy(...args);
    const files = all.filter((name) => name.startsWith('file:'));
    assert.ok(files.length > 15 && files.length <= most, `${args[0]}: ${files.join('\n')}`);
    // Each takes as long as several files.
    const slow = [
      'NativeModule readline',
      'NativeModule internal/util/parse_args/parse_args',
      'NativeModule crypto',
    ];
    assert.deepEqual(
      slow.filter((name) => all.includes(name)),
      [],
      args[0],
    );
    assert.deepEqual(
      files.filter((file) =>
        /node_modules\/(?!commander|fastest-levenshtein|string-width|strip-ansi|ansi-regex|get-east-asian-width)/.test(
          file,
        ),
      ),
      [],
    );
  }
});
