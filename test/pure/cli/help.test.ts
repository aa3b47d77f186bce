import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { group } from '../../../src/cli/group.ts';
import { pathLine } from '../../../src/cli/launcher.ts';
import { wrappedHelp } from '../../../src/cli/program.ts';
import { cliMarkdown } from '../../../src/cli/reference.ts';

test('a group answers to its alias and runs `ls` if no command is named', async () => {
  const called: string[] = [];
  const sub = (name: string) => () => new Command(name).action(() => void called.push(name));
  const make = group({ name: 'things', alias: 'thing', description: 'd' }, [sub('ls'), sub('add')]);
  for (const argv of [['things'], ['thing', 'add'], ['thing', 'ls']])
    await new Command().addCommand(make({ line() {}, remark() {} })).parseAsync(argv, { from: 'user' });
  assert.deepEqual(called, ['ls', 'add', 'ls']);
});

test('prose is broken at words, with its indentation', () => {
  assert.equal(wrappedHelp('  one two three four', 12), '  one two\n  three four');
  assert.equal(wrappedHelp('short\n\nlines', 5), 'short\n\nlines');
});

test('a command stays one command for a shell, and quoted words stay whole', () => {
  assert.equal(
    wrappedHelp('  echelon queue pause --reason "until 6 pm" vision', 30),
    '  echelon queue pause \\\n      --reason "until 6 pm" \\\n      vision',
  );
  assert.equal(wrappedHelp('  echelon verify x        # the same', 30), '  echelon verify x  # the same');
});

const page = await cliMarkdown();

test('the reference lists arguments, options with defaults, and examples of a command', () => {
  const start = page.indexOf('### echelon metrics ID [NAMES…]');
  const section = page.slice(start, page.indexOf('###', start + 3));
  assert.ok(start > 0);
  assert.match(section, /\| `ID` \| experiment: id, unique prefix/);
  assert.match(section, /\| `--resolution <points>` \| maximum number of points per metric \| `20` \|/);
  assert.match(section, /```sh\nechelon metrics exp-/);
  assert.doesNotMatch(section, /--url/);
});

test('the reference has a section per command within a group, and describes the verbs on experiments once', () => {
  for (const one of ['clusters add NAME ADDRESS', 'keys delete ID', 'config use NAME'])
    assert.ok(page.includes(`### echelon ${one}\n`), one);
  assert.equal(page.match(/^### echelon .*submit FILE$/gm)?.length, 2);
});

test('the command that puts echelon on PATH is given only for a checkout that is not on PATH', () => {
  const folder = join(import.meta.dirname, '../../../bin');
  assert.equal(pathLine('/nowhere:/also-nowhere'), `export PATH="${folder}:$PATH"`);
  assert.equal(pathLine(`/nowhere:${folder}`), undefined);
  assert.equal(pathLine('/nowhere', '/an/installed/package'), undefined);
});
