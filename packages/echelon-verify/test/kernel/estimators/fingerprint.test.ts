import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fingerprint } from '../../../src/kernel.ts';

describe('fingerprint', () => {
  test('of the recipes', () => {
    assert.equal(
      fingerprint('hgpo', { historyLength: 2 }),
      'hgpo(K=2,mean_std_norm,alpha=1,base=off,std=population,eps=1e-6,singleton=drop,zero=drop,weight=k+2)',
    );
    assert.equal(fingerprint('gigpo', {}), 'gigpo(mean_norm,step-weight=1,singleton=raw,over=rows)');
    assert.equal(fingerprint('grpo', {}), 'grpo(std=sample,eps=1e-6,singleton=raw,over=rows)');
    assert.equal(fingerprint('rloo', {}), 'rloo(singleton=raw,over=rows)');
  });

  test('what cannot change the number is not in it', () => {
    const plain = fingerprint('hgpo', { mode: 'mean_norm' });
    // The weights' epsilon follows the other one unless it is given.
    assert.equal(
      fingerprint('hgpo', { epsilon: 1e-3 }),
      fingerprint('hgpo', { epsilon: 1e-3, weightEpsilon: 1e-3 }),
    );
    assert.equal(
      fingerprint('hgpo', { mode: 'mean_norm', deviation: 'sample', epsilonPlace: 'floor' }),
      plain,
    );
    assert.equal(fingerprint('hgpo', { baseDeviation: 'population' }), fingerprint('hgpo', {}));
    assert.equal(
      fingerprint('grpo', { normalizeByStd: false, epsilon: 3 }),
      'grpo(std=none,singleton=raw,over=rows)',
    );
  });

  test('every parameter that changes the number changes it', () => {
    const hgpo = [
      {},
      { historyLength: 3 },
      { mode: 'mean_norm' },
      { lengthWeightAlpha: 0.5 },
      { baseGroup: true },
      { baseGroup: true, baseDeviation: 'population' },
      { baseGroup: true, baseSingleton: 'zero' },
      { baseGroup: true, baseStatistics: 'trajectories' },
      { epsilon: 1e-5 },
      { epsilonPlace: 'floor' },
      { deviation: 'sample' },
      { singleton: 'zero' },
      { zero: 'keep' },
      { weightOffset: 1 },
      { weightEpsilon: 0 },
    ] as const;
    assert.equal(new Set(hgpo.map((p) => fingerprint('hgpo', p))).size, hgpo.length);
    const grpo = [
      {},
      { normalizeByStd: false },
      { epsilon: 1e-4 },
      { epsilonPlace: 'variance-floor' },
      { deviation: 'population' },
      { singleton: 'zero' },
      { statistics: 'trajectories' },
      { baseline: 'leave-one-out' },
    ] as const;
    assert.equal(new Set(grpo.map((p) => fingerprint('grpo', p))).size, grpo.length);
    const gigpo = [
      {},
      { mode: 'mean_std_norm' },
      { mode: 'mean_std_norm', deviation: 'population' },
      { mode: 'mean_std_norm', epsilonPlace: 'floor' },
      { stepAdvantageWeight: 0.5 },
      { singleton: 'zero' },
      { statistics: 'trajectories' },
    ] as const;
    assert.equal(new Set(gigpo.map((p) => fingerprint('gigpo', p))).size, gigpo.length);
    assert.notEqual(fingerprint('rloo', { singleton: 'zero' }), fingerprint('rloo', {}));
  });
});
