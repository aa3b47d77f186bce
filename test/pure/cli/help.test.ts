import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { wrapped } from 'command-kit/width';
import { Command } from 'commander';
import { group } from '../../../src/cli/group.ts';
import { pathLine } from '../../../src/cli/launcher.ts';
import { cliMarkdown } from '../../../src/cli/reference.ts';
import { commandFirst } from '../../../src/cli/run.ts';

test('a group answers to its alias and runs `ls` if no command is named', async () => {
  const called: string[] = [];
  const sub = (name: string) => () => new Command(name).action(() => void called.push(name));
  const make = group({ name: 'things', alias: 'thing', description: 'd' }, [sub('ls'), sub('add')]);
  for (const argv of [['things'], ['thing', 'add'], ['thing', 'ls']])
    await new Command().addCommand(make({ line() {}, remark() {} })).parseAsync(argv, { from: 'user' });
  assert.deepEqual(called, ['ls', 'add', 'ls']);
});

test('prose is broken at words, with its indentation', () => {
  assert.equal(wrapped('  one two three four', 12), '  one two\n  three four');
  assert.equal(wrapped('short\n\nlines', 5), 'short\n\nlines');
  assert.equal(wrapped('name  one two three', 14), 'name  one two\n      three');
  assert.equal(wrapped('see `a b c` or d', 8), 'see\n`a b c`\nor d');
});

test('a command stays one command for a shell, and quoted words stay whole', () => {
  assert.equal(
    wrapped('  echelon queue pause --reason "until 6 pm" vision', 30),
    '  echelon queue pause \\\n      --reason "until 6 pm" \\\n      vision',
  );
  assert.equal(wrapped('  echelon verify x        # the same', 30), '  echelon verify x  # the same');
});

test('global options before the command mean the same as after it', () => {
  const before = ['--url', 'u', '--json', '--token=t', 'ls', '-n', '3', '--', 'x'];
  assert.deepEqual(commandFirst(before), ['ls', '-n', '3', '--url', 'u', '--json', '--token=t', '--', 'x']);
  assert.deepEqual(commandFirst(['--help']), ['--help']);
  assert.deepEqual(commandFirst(['ls', '--url', 'u']), ['ls', '--url', 'u']);
});

const page = await cliMarkdown();

test('the reference lists arguments, options with defaults, and examples of a command', () => {
  const start = page.indexOf('### echelon metrics ID [NAMES…]');
  const section = page.slice(start, page.indexOf('###', start + 3));
  assert.ok(start > 0);
  assert.match(section, /^- `ID`: experiment: id, unique prefix/m);
  assert.match(section, /^- `--resolution <points>`: maximum number of points per metric \(default `20`\)$/m);
  assert.match(section, /```sh\nechelon metrics exp-/);
  assert.doesNotMatch(section, /--url/);
});

test('the reference has a section per command within a group', () => {
  for (const one of ['clusters add NAME ADDRESS', 'keys delete ID', 'sweeps submit FILE'])
    assert.ok(page.includes(`### echelon ${one}\n`), one);
});

test('the command that puts echelon on PATH is given only for a checkout that is not on PATH', () => {
  const folder = join(import.meta.dirname, '../../../bin');
  assert.equal(pathLine('/nowhere:/also-nowhere'), `export PATH="${folder}:$PATH"`);
  assert.equal(pathLine(`/nowhere:${folder}`), undefined);
  assert.equal(pathLine('/nowhere', '/an/installed/package'), undefined);
});
