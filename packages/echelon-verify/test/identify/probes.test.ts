import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownForm } from '../../src/identify/fingerprints.ts';
import { estimatorOfForm } from '../../src/identify/identify.ts';
import { PROBES, probeValues, tellApart } from '../../src/identify/probes.ts';

const of = (id: string) => estimatorOfForm(knownForm(id));

test('two forms differ first on the first probe that gives clearly different values', () => {
  assert.equal(tellApart(of('verl/grpo'), of('rllm/grpo')).probe, 'rewards 1, 0, 0, 0');
  assert.equal(tellApart(of('verl/grpo'), of('slime/grpo')).probe, 'a group of one row with reward 0.7');
  assert.equal(tellApart(of('slime/grpo'), of('areal/grpo')).probe, 'rewards 0.5 and 0.5002');
  assert.equal(tellApart(of('trl/grpo'), of('ms-swift/grpo')).probe, 'a reward that is missing');
  assert.equal(tellApart(of('prime-rl/grpo'), of('openrlhf/dr-grpo')).probe, 'rewards 100, 0, 0, 0');
});

test('one form differs from itself on no probe', () => {
  const { probe, fingerprint } = tellApart(of('verl/opo'), of('verl/opo'));
  assert.deepEqual([probe, fingerprint], [undefined, 'opo(singleton=raw)']);
});

test('the values of rewards 1, 0, 0, 0 are those of the published table', () => {
  const first = (id: string) => Number(probeValues(PROBES[0]!, of(id))![0]!.toFixed(2));
  const values = {
    'verl/grpo': 1.5,
    'rllm/grpo': 1.73,
    'prime-rl/grpo': 0.75,
    'nemo-rl/grpo': 1,
    'prime-rl/max-rl': 3,
  };
  for (const [id, value] of Object.entries(values)) assert.equal(first(id), value, id);
});
