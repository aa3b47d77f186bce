import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { compileVerlAgent } from '../../../src/plan/verl-agent/compile.ts';
import type { LocalSpec } from '../../../src/schemas/spec.ts';
import { validateSpec } from '../../../src/schemas/validate-spec.ts';

const folder = 'deploy/examples';
const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
const read = (file: string) =>
  validateSpec(parse(readFileSync(`${folder}/${file}`, 'utf8'), { uniqueKeys: true }));

describe('deploy/examples', () => {
  for (const file of files) {
    test(`${file} is a spec that can be planned`, () => {
      const { spec } = resolveSpec(read(file));
      assert.ok(compilePlan(spec).arguments.length > 5);
    });
  }

  test('the comparison differs in its estimator and nothing else', () => {
    const [first, ...others] = ['hgpo', 'gigpo', 'grpo'].map((name) => {
      const { name: _label, estimator, ...rest } = read(`${name}.yaml`) as LocalSpec;
      assert.equal(estimator.name, name);
      return rest;
    });
    for (const other of others) assert.deepEqual(other, first);
  });

  test('the evaluation reads the checkpoints of the training beside it', () => {
    const evaluation = read('verl-agent-evaluate.yaml');
    const training = resolveSpec(read('verl-agent-hgpo.yaml')).spec;
    assert.ok(evaluation.engine === 'verl-agent' && training.engine === 'verl-agent');
    assert.equal(
      evaluation.evaluation?.checkpoint?.directory,
      compileVerlAgent(training).checkpointDirectory,
    );
  });

  test('there is one for each engine', () => {
    assert.deepEqual(
      new Set(files.map((file) => read(file).engine)),
      new Set(['local', 'replay', 'verl-agent']),
    );
  });
});
