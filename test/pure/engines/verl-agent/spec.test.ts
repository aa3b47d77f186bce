import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specProblems } from '../../../../src/engines/validate-spec.ts';
import { RECIPE_NAMES } from '../../../../src/engines/verl-agent/spec.ts';

const SPEC = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train' };
const fields = (spec: object) => specProblems({ ...SPEC, ...spec }).map(({ field }) => field);

test('a spec needs only a known recipe', () => {
  for (const recipe of RECIPE_NAMES) assert.deepEqual(fields({ recipe }), []);
  assert.deepEqual(fields({ recipe: 'qwen2.5_1.5b_alfworld' }), ['/recipe']);
});

test('a path of a spec with `..`, spaces, quotes or references is refused', () => {
  const bad = ['../x/y', 'a/../b', 'a/b/c', '/a/b', 'a', "a/b'", `a/\${x}`, 'a/b,c', 'a/b c'];
  for (const directory of bad) {
    assert.deepEqual(fields({ evaluation: { checkpoint: { directory } } }), [
      '/evaluation/checkpoint/directory',
    ]);
  }
  for (const path of ['../model', 'a b', `\${oc.env:HOME}`, 'x=y', "a'"]) {
    assert.deepEqual(fields({ model: { path } }), ['/model/path'], path);
  }
  assert.deepEqual(fields({ model: { path: 'Qwen/Qwen2.5-7B-Instruct' } }), []);
  assert.deepEqual(fields({ model: { path: '/models/qwen' } }), []);
  for (const home of ['relative', '/a/../b', '/a\n']) assert.deepEqual(fields({ home }), ['/home']);
});

test('an override or logger without a single valid value is refused', () => {
  assert.deepEqual(fields({ overrides: { 'data.shuffle': { a: 1 } } }), ['/overrides/data.shuffle']);
  assert.deepEqual(fields({ overrides: { 'a b': 1 } }), ['/overrides/a b']);
  assert.deepEqual(fields({ training: { logger: [] } }), ['/training/logger']);
  assert.deepEqual(fields({ training: { logger: ['trackio'] } }), ['/training/logger/0']);
});

test('an estimator of verl-agent that cannot be run is refused with those that can', () => {
  for (const name of ['remax', 'grpo_passk']) {
    const [problem] = specProblems({ ...SPEC, estimator: { name } });
    assert.equal(problem?.field, '/estimator/name');
    assert.match(
      problem.message,
      /^must be one of "hgpo", .*"reinforce_plus_plus", but the string "(remax|grpo_passk)" came/,
    );
  }
});
