import { counted } from 'echelon-verify/text/plural';
import type { CurveData } from './curves.ts';

/** A combination of a sweep as the API aggregates it over seeds. */
interface Combination {
  values: Record<string, unknown>;
  children: number;
  curves: number;
  points: readonly {
    from: number;
    to: number;
    n: number;
    mean: number | null;
    interval: { low: number; high: number } | null;
  }[];
}

/** The field of a JSON pointer, as specs name it: `replay.batches`. */
export const fieldOf = (pointer: string): string => pointer.slice(1).replaceAll('/', '.');

/** The values of a combination in words: `replay.batches=12 replay.fault=none`. */
export function combinationName(values: Record<string, unknown>): string {
  const words = Object.entries(values).map(
    ([axis, value]) => `${fieldOf(axis)}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return words.length === 0 ? 'all children' : words.join(' ');
}

/** Means with the limits of their 95 % intervals on common steps; a mean without an interval is its own limit. */
export function bandsOf(items: readonly Combination[]): CurveData {
  const middle = ({ from, to }: { from: number; to: number }) => (from + to) / 2;
  const steps = [...new Set(items.flatMap(({ points }) => points.map(middle)))].sort((a, b) => a - b);
  const index = new Map(steps.map((step, at) => [step, at]));
  const columns: (number | null)[][] = [steps];
  for (const { points } of items) {
    const [mean, high, low] = [0, 1, 2].map(() => new Array<number | null>(steps.length).fill(null));
    for (const point of points) {
      const at = index.get(middle(point))!;
      mean![at] = point.mean;
      high![at] = point.interval?.high ?? point.mean;
      low![at] = point.interval?.low ?? point.mean;
    }
    columns.push(mean!, high!, low!);
  }
  return {
    series: items.map(({ values, points, curves, children }) => ({
      name: `${combinationName(values)} · ${curves} of ${counted(children, 'child', 'children')}`,
      values: points.length,
    })),
    columns,
  };
}
