import assert from 'node:assert/strict';
import type { Estimator } from '../../src/kernel/estimators/estimator.ts';
import { evaluate } from '../../src/kernel/estimators/evaluate.ts';
import { completeParameters } from '../../src/kernel/estimators/parameters.ts';
import type { RewardColumn } from '../../src/kernel/stages/chain.ts';
import { perToken, type TokenSequences } from '../../src/kernel/stages/token-sequences.ts';

interface Columns {
  readonly score?: readonly number[];
  readonly group?: readonly number[];
  readonly tokens?: readonly number[];
  readonly rewards?: readonly (readonly number[])[];
  /** Tokens of the responses: a column each, and where each response starts. */
  readonly offset?: readonly number[];
  readonly mask?: readonly number[];
  readonly reward?: readonly number[];
  readonly value?: readonly number[];
  readonly logProb?: readonly number[];
  readonly squaredProbabilities?: readonly number[];
  readonly rolloutWeight?: readonly number[];
  /** One entry per response. */
  readonly rewardBaseline?: readonly number[];
}

/** What an estimator gives for one group (or the stated groups), by parameters other than its defaults. */
export function run<P>(estimator: Estimator<P>, columns: Columns, changes: Partial<P> = {}): number[] {
  const rows = (columns.score ?? columns.rewards?.[0] ?? columns.offset!.slice(1)).length;
  const group = Int32Array.from(columns.group ?? new Array<number>(rows).fill(0));
  const ids = Int32Array.from(group.keys());
  const rewards = (columns.rewards ?? []).map(
    (value, k): RewardColumn => ({ name: `r${k}`, weight: 1, value: Float64Array.from(value) }),
  );
  const params = completeParameters(estimator.parameters as never, changes as never) as P;
  const input = {
    steps: { rows, group, trajectory: ids, observation: ids },
    score: () => Float64Array.from(columns.score!),
    stepReturn: () => assert.fail('no estimator here uses step returns'),
    responseLength: () => Int32Array.from(columns.tokens!),
    rewards: () => rewards,
    ...(columns.offset && { tokens: () => tokensOf(columns, group) }),
  };
  return Array.from(evaluate(estimator, input, params));
}

function tokensOf(columns: Columns, group: Int32Array): TokenSequences {
  const offset = Int32Array.from(columns.offset!);
  return {
    offset,
    mask: Uint8Array.from(columns.mask!),
    group,
    column(name) {
      const own = Float64Array.from(columns[name]!);
      return name === 'rewardBaseline' ? perToken(offset, own) : own;
    },
  };
}

/** Asserts that the values are these, to 12 digits. */
export function near(actual: readonly number[], expected: readonly number[]): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((x, i) => {
    const off = Math.abs(x - expected[i]!);
    const same = Object.is(x, expected[i]) || off <= 1e-12 * Math.max(1, Math.abs(x));
    assert.ok(same, `value ${i} is ${x}, expected ${expected[i]}`);
  });
}
