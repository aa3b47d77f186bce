import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { readSpec } from '../../../src/cli/folder-files.ts';
import type { LocalSpec } from '../../../src/engines/local/spec.ts';
import { allEngines } from '../../../src/engines/registry.ts';
import { validateSpec } from '../../../src/engines/validate-spec.ts';
import { compileVerlAgent } from '../../../src/engines/verl-agent/compile.ts';
import {
  planProblems,
  sweepOfPlan,
  undeclaredDifferences,
} from '../../../src/plan/comparison/plan-comparison.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { draftSweep } from '../../../src/plan/sweep.ts';
import { createSweepCheck } from '../../../src/plan/sweep-check.ts';
import { STRICT_AJV } from '../../../src/schemas/check.ts';
import { ComparisonPlan } from '../../../src/schemas/comparison.ts';
import { SweepRequest } from '../../../src/schemas/sweep.ts';

const folder = 'deploy/examples';
const all = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
const files = all.filter((file) => !/^(sweep-|comparison)/.test(file));
const sweeps = all.filter((file) => file.startsWith('sweep-'));
const specs = new Map(
  await Promise.all(
    files.map(async (file) => [file, await readSpec(`${folder}/${file}`, { remark: assert.fail })] as const),
  ),
);
const read = (file: string) => validateSpec(specs.get(file));

describe('deploy/examples', () => {
  for (const file of files) {
    test(`${file} is a spec that can be planned`, () => {
      const { spec } = resolveSpec(read(file), { customCode: true });
      const { name: _, ...settings } = spec;
      assert.deepEqual(JSON.parse(String(compilePlan(spec).files['spec.json'])).spec, settings);
    });
  }

  for (const file of sweeps) {
    test(`${file} is a sweep whose children can be planned`, () => {
      const request = parse(readFileSync(`${folder}/${file}`, 'utf8'), { uniqueKeys: true });
      assert.ok(new Ajv(STRICT_AJV).validate(SweepRequest, request));
      const draft = draftSweep(request);
      assert.equal(draft.entries.length, 6);
      const check = createSweepCheck(draft, (spec) => resolveSpec(spec, { customCode: true }));
      const children = draft.entries.map((_entry, index) => check.child(index)!);
      check.refuse();
      for (const { resolved } of children)
        assert.equal(compilePlan(resolved.spec).engine, resolved.spec.engine);
    });
  }

  test('comparison.yaml is a plan whose runs can be planned and differ in the estimator alone', () => {
    const plan = parse(readFileSync(`${folder}/comparison.yaml`, 'utf8'), { uniqueKeys: true });
    assert.ok(new Ajv(STRICT_AJV).validate(ComparisonPlan, plan));
    assert.deepEqual(planProblems(plan), []);
    const draft = draftSweep(sweepOfPlan(plan));
    const check = createSweepCheck(draft, (spec) => resolveSpec(spec, { customCode: true }));
    const [one, other] = [0, 1].map((index) => check.child(index)!.resolved.spec);
    check.refuse();
    assert.deepEqual([draft.entries.length, undeclaredDifferences(plan, one, other)], [16, []]);
  });

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
    const engines = new Set<string>(files.map((file) => read(file).engine));
    assert.deepEqual(engines, new Set(allEngines().map(({ name }) => name)));
  });
});
