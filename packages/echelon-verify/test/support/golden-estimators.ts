import { readFileSync } from 'node:fs';
import { type Batch, estimatorFrom } from '../../src/format/batch.ts';
import { knownForm } from '../../src/identify/fingerprints.ts';

interface GoldenCase {
  readonly form: string;
  readonly case: string;
  readonly group: readonly number[];
  readonly score: readonly (number | null)[];
  readonly tokens: readonly number[];
  readonly rewards?: readonly (readonly (number | null)[])[];
  readonly weights?: readonly number[];
  readonly advantage: readonly (number | null)[];
  readonly precision?: 'float64';
}

/** What the functions of published trainers give (scripts/golden/estimators.py), as batches of the form that they are. */
export function goldenEstimates(): { form: string; batch: Batch }[] {
  const file = new URL('../../../../test/golden/trainers/estimators.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: GoldenCase[] };
  return cases.map((one) => ({ form: one.form, batch: batchOf(one) }));
}

function batchOf(one: GoldenCase): Batch {
  const { estimator: name, params } = knownForm(one.form);
  const floats = (values: readonly (number | null)[]) => Float64Array.from(values, (x) => x ?? Number.NaN);
  const ids = new Map([...new Set(one.group)].map((g, i) => [g, i]));
  const trajectory = Int32Array.from(one.group.keys());
  return {
    name: `${one.form}, ${one.case}`,
    rows: one.group.length,
    estimator: estimatorFrom(name, params, one.precision),
    group: Int32Array.from(one.group, (g) => ids.get(g)!),
    groupNames: [...ids.keys()].map(String),
    trajectory,
    trajectoryNames: Array.from(trajectory, String),
    observationLabel: String,
    tokenLevelRewardSum: floats(one.score),
    responseLength: Int32Array.from(one.tokens),
    reportedAdvantage: floats(one.advantage).map(Math.fround),
    ...(one.rewards && {
      rewards: one.rewards.map((value, k) => ({
        name: `r${k}`,
        weight: one.weights![k]!,
        value: floats(value),
      })),
    }),
  };
}
