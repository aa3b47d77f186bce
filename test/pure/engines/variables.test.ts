import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customCodeOf } from '../../../src/engines/registry.ts';
import { validateSpec } from '../../../src/engines/validate-spec.ts';
import { variablePermissionProblems, variableProblems } from '../../../src/engines/variables.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const LOCAL = { engine: 'local', name: 'x', estimator: { name: 'hgpo' } } as const;

test('variables of Echelon, Ray and the loader, and those that a secret gives, are refused by name', () => {
  const reserved = ['ECHELON_SPOOL', 'RAY_ADDRESS', 'PATH', 'PYTHONPATH', 'LD_PRELOAD', 'HOME'];
  const others = ['CUDA_VISIBLE_DEVICES', 'VLLM_ATTENTION_BACKEND', 'HF_TOKEN'];
  const names = [...reserved, ...others];
  const env = Object.fromEntries([...names, 'HF_HOME', 'PATHS', 'MY_RAY_X'].map((name) => [name, 'x']));
  const problems = variableProblems(env, { HF_TOKEN: 'hf-read' });
  assert.deepEqual(
    problems.map(({ field }) => field),
    names.map((name) => `/env/${name}`),
  );
  assert.match(problems.at(-1)!.message, /secrets/);
  assert.match(problems.at(-2)!.message, /rollout\.attentionBackend/);
});

test('without custom-code only harmless variables and directories below allowed ones may be set', () => {
  const env = {
    WANDB_PROJECT: 'p',
    HF_HOME: '/shared/hf',
    ALFWORLD_DATA: '/other',
    HF_ENDPOINT: 'https://x',
    A: '1',
  };
  const fields = (permissions?: Parameters<typeof variablePermissionProblems>[1]) =>
    variablePermissionProblems(env, permissions).map(({ field }) => field);
  assert.deepEqual(fields(), ['/env/HF_HOME', '/env/ALFWORLD_DATA', '/env/HF_ENDPOINT', '/env/A']);
  assert.deepEqual(fields({ codePaths: ['/shared'] }), ['/env/ALFWORLD_DATA', '/env/HF_ENDPOINT', '/env/A']);
  assert.deepEqual(fields({ customCode: true }), []);
});

test('a spec with variables needs the permission for them, and a secret in plain text is refused', () => {
  const spec = { ...LOCAL, env: { MY_SETTING: '1' } };
  assert.throws(() => resolveSpec(spec), { code: 'invalid-spec' });
  assert.deepEqual(resolveSpec(spec, { customCode: true }).spec.env, { MY_SETTING: '1' });
  assert.ok(
    customCodeOf(spec) && !customCodeOf({ ...LOCAL, env: { HF_HOME: '/any', WANDB_MODE: 'offline' } }),
  );
  const token = { ...LOCAL, env: { HF_TOKEN: `hf_${'a1B2'.repeat(8)}` } };
  assert.throws(() => validateSpec(token), { code: 'invalid-spec' });
  for (const env of [{ 'a-b': 'x' }, { A: 'a\u0007b' }, { A: 1 }])
    assert.throws(() => validateSpec({ ...LOCAL, env }), { code: 'invalid-spec' });
});

test("a plan has the cluster's variables, the spec's over them, and no variable that a secret gives", () => {
  const spec = { ...LOCAL, env: { A: 'spec', B: 'spec' }, secrets: { T: 'name' } };
  const { spec: resolved } = resolveSpec(spec, { customCode: true });
  const plan = compilePlan(resolved, { A: 'cluster', C: 'cluster', T: 'cluster' });
  assert.deepEqual(plan.environment, { A: 'spec', B: 'spec', C: 'cluster' });
  assert.deepEqual(plan.secrets, { T: 'name' });
});
