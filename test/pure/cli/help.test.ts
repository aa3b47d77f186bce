import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { group } from '../../../src/cli/group.ts';

test('a group answers to its alias and runs `ls` if no command is named', async () => {
  const called: string[] = [];
  const sub = (name: string) => () => new Command(name).action(() => void called.push(name));
  const make = group({ name: 'things', alias: 'thing', description: 'd' }, [sub('ls'), sub('add')]);
  for (const argv of [['things'], ['thing', 'add'], ['thing', 'ls']])
    await new Command().addCommand(make({ line() {}, remark() {} })).parseAsync(argv, { from: 'user' });
  assert.deepEqual(called, ['ls', 'add', 'ls']);
});
