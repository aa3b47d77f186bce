import { isFinal } from '../../../core/states.ts';
import { childValues } from '../../../plan/sweep.ts';
import { canonicalJson } from '../../../schemas/json.ts';
import type { SweepAxis, SweepCombination } from '../../../schemas/sweep.ts';
import type { Figures, SweepChild } from '../../../store/sweeps/types.ts';
import { RATE, spreadOf } from '../../server/spread.ts';

/** Children that differ in nothing but the axes that are aggregated over, in order of their first child. */
interface Combination {
  values: Record<string, unknown>;
  children: SweepChild[];
}

/** The axes that are seeds: those whose place ends in `seed`. */
export function seedAxes(axes: readonly SweepAxis[]): string[] {
  return axes.map(({ pointer }) => pointer).filter((pointer) => /(^|\/)seed$/i.test(pointer));
}

/** Groups children by their values on every axis but those of `over`. */
export function combinationsOf(
  axes: readonly SweepAxis[],
  children: readonly SweepChild[],
  over: readonly string[],
): Combination[] {
  const groups = new Map<string, Combination>();
  for (const child of children) {
    const values = Object.fromEntries(
      Object.entries(childValues(axes, child.entry)).filter(([pointer]) => !over.includes(pointer)),
    );
    const key = canonicalJson(values);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { values, children: [child] });
    else group.children.push(child);
  }
  return [...groups.values()];
}

/** By its name, as the recipes and the local engine call it: `val/success_rate`, `val/pick_success_rate`. */
export function isRate(metric: string): boolean {
  return /(^|[/_])success_rate$/.test(metric);
}

/**
 * One row of the comparison. A metric counts if its child has succeeded and its last value is finite: mean, and
 * sample standard deviation (n - 1) in two passes. Seconds run from the first start to the end, or to `now` (ms).
 */
export function compareCombination(
  { values, children }: Combination,
  figures: readonly (Figures | undefined)[],
  {
    metrics,
    now,
    reference = null,
    customCode = false,
  }: {
    metrics: readonly string[];
    now: number;
    reference?: SweepCombination['reference'];
    customCode?: boolean;
  },
): SweepCombination {
  const found = figures.filter((one): one is Figures => one !== undefined);
  const succeeded = found.filter(({ state }) => state === 'succeeded');
  const total = (of: (one: Figures) => number) => found.reduce((sum, one) => sum + of(one), 0);
  const seconds = ({ state, startedAt, endedAt }: Figures) =>
    startedAt === null
      ? 0
      : Math.max(0, (isFinal(state) && endedAt !== null ? endedAt : now) - startedAt) / 1000;
  return {
    values,
    children: children.length,
    succeeded: succeeded.length,
    failed: found.filter(({ state }) => state === 'failed').length,
    metrics: Object.fromEntries(
      metrics.map((name) => [
        name,
        spreadOf(
          succeeded.flatMap((one) => (Object.hasOwn(one.metrics, name) ? [one.metrics[name]!] : [])),
          isRate(name) ? RATE : undefined,
        ),
      ]),
    ),
    rows: {
      exact: total((one) => one.exact),
      rounding: total((one) => one.rounding),
      wrong: total((one) => one.wrong),
      unverifiable: total((one) => one.unverifiable),
    },
    gpuSeconds: total((one) => one.gpus * seconds(one)),
    cpuSeconds: total((one) => one.cpus * seconds(one)),
    reference,
    customCode,
  };
}
