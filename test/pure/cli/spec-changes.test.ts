import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError } from 'commander';
import { CliError } from 'echelon-verify/cli/exit';
import { changedSpec, changesSpec, setting } from '../../../src/cli/spec-changes.ts';

const set = (...texts: string[]) =>
  texts.reduce<ReturnType<typeof setting>>((all, text) => setting(text, all), []);

test('values are read as YAML and set in a copy of the spec', () => {
  const spec = { name: 'a', training: { seed: 1 } };
  const changed = changedSpec(spec, {
    set: set(
      'training.seed=2',
      '/training/steps=5',
      'labels=[x, y]',
      'estimator.name=hgpo',
      'flag=true',
      'text=a=b',
    ),
    ...{ name: 'b', priority: -3, project: 'vision' },
  });
  assert.deepEqual(changed, {
    ...{ name: 'b', training: { seed: 2, steps: 5 }, labels: ['x', 'y'], estimator: { name: 'hgpo' } },
    ...{ flag: true, text: 'a=b', priority: -3, project: 'vision' },
  });
  assert.deepEqual(spec, { name: 'a', training: { seed: 1 } });
});

test('without changes the spec is the same, whatever it is', () => {
  assert.equal(changedSpec('text', {}), 'text');
  assert.equal(changesSpec({}), false);
  assert.equal(changesSpec({ priority: 0 }), true);
});

test('what cannot be set is wrong usage', () => {
  for (const text of ['seed', '=1', 'a=[']) assert.throws(() => setting(text), InvalidArgumentError, text);
  assert.throws(() => changedSpec({ name: 'a' }, { set: set('name.x=1') }), CliError);
  assert.throws(() => changedSpec({}, { set: set('__proto__.x=1') }), CliError);
  assert.throws(() => changedSpec([1], { name: 'x' }), CliError);
});
