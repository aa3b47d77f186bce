import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from 'echelon-verify/kernel';
import { fingerprintOf } from '../../../../src/engines/verl-agent/fingerprint.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';
import type { VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';

test("the fingerprint of a verl-agent training is the kernel's, with K from the environment", () => {
  const of = (spec: Partial<VerlAgentSpec>) =>
    fingerprintOf(
      resolveVerlAgent({ engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_webshop_train', ...spec }),
    );
  const hgpo = fingerprint('hgpo', { historyLength: 4, mode: 'mean_norm' });
  const environment = { historyLength: 4 };
  assert.equal(of({ environment }), hgpo);
  assert.equal(of({ estimator: { name: 'gigpo' } }), fingerprint('gigpo', { mode: 'mean_norm' }));
  assert.equal(
    of({ estimator: { name: 'grpo', normalizeByStd: false } }),
    fingerprint('grpo', { normalizeByStd: false }),
  );
  assert.equal(of({ estimator: { name: 'rloo' } }), fingerprint('rloo', {}));
  assert.equal(
    of({ estimator: { name: 'ppo', tokenGamma: 0.99, lambda: 0.95 } }),
    fingerprint('gae', { discount: 0.99, lambda: 0.95, maskedTokens: 'include' }),
  );
  assert.equal(
    of({ estimator: { name: 'reinforce_plus_plus' } }),
    fingerprint('reinforce_plus_plus_token', { maskedTokens: 'reset' }),
  );
  assert.equal(
    of({ estimator: { name: 'reinforce_plus_plus', baseline: true } }),
    fingerprint('reinforce_plus_plus', { baseline: 'group' }),
  );
  const evaluation = { checkpoint: { directory: 'a/b' } };
  assert.equal(of({ recipe: 'qwen2.5_1.5b_webshop_eval', evaluation }), null);
});
