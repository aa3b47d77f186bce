import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { type DumpFlags, optionsText, statedBy, withDumpOptions } from '../../src/cli/dump-options.ts';
import { parameterFromText } from '../../src/kernel/estimators/registry.ts';

const stated = (args: string[]) => {
  const command = withDumpOptions(new Command(), (text, before) => ({
    ...before,
    ...parameterFromText(text),
  }));
  return statedBy(command.parse(args, { from: 'user' }).opts<DumpFlags>());
};

test('the options of a command are printed as they can be given again', () => {
  const args = ['--from', 'table', '--estimator', 'grpo', '--param', 'epsilon=0.0001', '--group-size', '4'];
  const more = [
    '--rewards',
    'a,b',
    '--weights',
    '1,0.5',
    '--map',
    'group=p,reward=r',
    '--precision',
    'float16',
  ];
  const text = optionsText(stated([...args, ...more]));
  assert.deepEqual(stated(text.trim().split(' ')), stated([...args, ...more]));
  assert.equal(optionsText(stated([])), '');
  assert.equal(optionsText(stated(['--rewards', 'a b'])), " --rewards 'a b'");
});
