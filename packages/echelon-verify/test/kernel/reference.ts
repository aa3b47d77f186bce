import fc from 'fast-check';
import type { HgpoParameters, StepColumns } from '../../src/kernel.ts';

/** A batch small enough to think about, as the estimators take it. */
export interface SmallBatch {
  readonly steps: StepColumns;
  readonly stepReturn: Float64Array;
  readonly score: Float64Array;
}

/**
 * Batches at the edges: groups of one, trajectories of one step, states met again and again, rows of several
 * trajectories interleaved, returns that are all equal, nearly equal, or far from 0. Returns and scores are
 * multiples of 1/64 plus one offset, so sums are exact in float64 and "equal to the mean" is decidable.
 */
export function batches(
  options: { observations?: number; interleaved?: boolean } = {},
): fc.Arbitrary<SmallBatch> {
  const states = options.observations ?? 3;
  const value = fc.oneof(
    fc.constant(0),
    fc.constant(640),
    fc.integer({ min: -3, max: 3 }),
    fc.integer({ min: -6400, max: 6400 }),
  );
  const step = fc.tuple(fc.nat({ max: states - 1 }), value, value);
  const trajectory = fc.array(step, { minLength: 1, maxLength: 9 });
  const group = fc.array(trajectory, { minLength: 1, maxLength: 5 });
  return fc
    .record({
      groups: fc.array(group, { maxLength: 4 }),
      offset: fc.constantFrom(0, 0, 1, 1e6, -1e9),
      equal: fc.boolean(),
      shuffle: fc.array(fc.nat(), { minLength: 180, maxLength: 180 }),
    })
    .map(({ groups, offset, equal, shuffle }) => {
      const rows: { group: number; trajectory: number; observation: number; ret: number; score: number }[] =
        [];
      let trajectories = 0;
      groups.forEach((members, g) => {
        for (const steps of members) {
          for (const [observation, ret, score] of steps) {
            rows.push({
              group: g,
              trajectory: trajectories,
              observation,
              ret: (equal ? 0 : ret / 64) + offset,
              score: (equal ? 0 : score / 64) + offset,
            });
          }
          trajectories++;
        }
      });
      if (options.interleaved !== false) interleave(rows, shuffle);
      return columnsOf(rows);
    });
}

/** Moves rows about without changing the order inside a trajectory. */
function interleave(rows: { trajectory: number }[], shuffle: readonly number[]): void {
  for (let at = 1; at < rows.length; at++) {
    const steps = shuffle[at % shuffle.length]! % 5;
    for (let to = at; to > 0 && to > at - steps && rows[to]!.trajectory !== rows[to - 1]!.trajectory; to--) {
      [rows[to - 1], rows[to]] = [rows[to]!, rows[to - 1]!];
    }
  }
}

/** Columns of row objects. */
export function columnsOf(
  rows: readonly { group: number; trajectory: number; observation: number; ret: number; score?: number }[],
): SmallBatch {
  return {
    steps: {
      rows: rows.length,
      group: Int32Array.from(rows, (row) => row.group),
      trajectory: Int32Array.from(rows, (row) => row.trajectory),
      observation: Int32Array.from(rows, (row) => row.observation),
    },
    stepReturn: Float64Array.from(rows, (row) => row.ret),
    score: Float64Array.from(rows, (row) => row.score ?? 0),
  };
}

/** For each row, the rows of its cluster at each level it reaches: by text keys, straight from the definition. */
export function slowClusters(steps: StepColumns, historyLength: number): number[][][] {
  const pathOf: string[][] = [];
  const seen = new Map<string, string[]>();
  for (let row = 0; row < steps.rows; row++) {
    const key = `${steps.group[row]}/${steps.trajectory[row]}`;
    const path = [...(seen.get(key) ?? []), String(steps.observation[row])];
    seen.set(key, path);
    pathOf.push(path);
  }
  return pathOf.map((path, row) => {
    const levels: number[][] = [];
    for (let k = 0; k <= historyLength && k < path.length; k++) {
      const key = path.slice(-(k + 1)).join('|');
      levels.push(
        pathOf.flatMap((other, at) =>
          steps.group[at] === steps.group[row] && other.length > k && other.slice(-(k + 1)).join('|') === key
            ? [at]
            : [],
        ),
      );
    }
    return levels;
  });
}

/** HGPO as its definition reads, row by row, with none of the kernel's code. */
export function slowHgpo(batch: SmallBatch, p: HgpoParameters): number[] {
  const { steps, stepReturn, score } = batch;
  const clusters = slowClusters(steps, p.historyLength);
  return clusters.map((levels, row) => {
    const items: { weight: number; a: number }[] = [];
    if (p.baseGroup) {
      const group = Array.from(steps.group.keys()).filter((at) => steps.group[at] === steps.group[row]);
      const values = group.map((at) => score[at]!);
      items.push({
        weight: 1,
        a: values.length === 1 ? alone(score[row]!, p) : normal(score[row]!, values, p, 1),
      });
    }
    levels.forEach((members, k) => {
      if (members.length < 2) return;
      const a = normal(
        stepReturn[row]!,
        members.map((at) => stepReturn[at]!),
        p,
        0,
      );
      items.push({ weight: (k + p.weightOffset) ** p.lengthWeightAlpha, a });
    });
    const kept = p.zero === 'keep' ? items : items.filter(({ a }) => a !== 0);
    if (kept.length === 0) return 0;
    const total = kept.reduce((sum, item) => sum + item.weight, 0) + p.weightEpsilon;
    return kept.reduce((sum, item) => sum + (item.weight / total) * item.a, 0);
  });
}

function alone(value: number, p: HgpoParameters): number {
  return p.mode === 'mean_norm' ? value : value / (1 + p.epsilon);
}

/** (value − mean) [/ (std + ε)], `less` taken off the count; exactly 0 where all values are equal. */
export function normal(
  value: number,
  values: readonly number[],
  p: { mode: string; epsilon: number },
  less: 0 | 1,
): number {
  if (values.every((v) => v === values[0])) return 0;
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  if (p.mode === 'mean_norm') return value - mean;
  const variance = values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (values.length - less);
  return (value - mean) / (Math.sqrt(variance) + p.epsilon);
}
