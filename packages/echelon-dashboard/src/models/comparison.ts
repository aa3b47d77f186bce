import type { Answer } from 'echelon-client/calls';

/** A comparison with its runs and results. */
export type ComparisonDetail = Answer<'get', '/v1/comparisons/{id}'>;
/** A method against the baseline. */
export type ComparisonResult = ComparisonDetail['results'][number];
/** A metric over the steps of each method. */
export type ComparisonSeries = Answer<'get', '/v1/sweeps/{id}/series'>;

/** A share as points of success. */
export const points = (share: number): string => (100 * share).toFixed(1);
/** The same with its sign. */
export const signedPoints = (share: number): string => (share < 0 ? '' : '+') + points(share);

const STEPS = [0.5, 1, 2, 5, 10, 20, 50];
const MAX_TICKS = 7;

/** The axis of a result in points: places from 0 to 1, and the ticks. It holds the seeds, the interval, 0 and the margin. */
export function differenceAxis(result: Pick<ComparisonResult, 'differences' | 'interval'>, margin: number) {
  const shown = [...result.differences, ...result.interval].map((share) => 100 * share);
  const [least, most] = [Math.min(...shown, -margin), Math.max(...shown, margin)];
  const step = STEPS.find((one) => (most - least) / one <= MAX_TICKS) ?? 50;
  const [low, high] = [Math.floor(least / step) * step, Math.ceil(most / step) * step];
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_one, at) => low + at * step);
  return { ticks, placeOf: (value: number) => (value - low) / (high - low) };
}

/** For each seed the success of each method in the order of the plan; null: not evaluated. */
export function seedRows({ plan, runs }: Pick<ComparisonDetail, 'plan' | 'runs'>) {
  return plan.seeds.map((seed) => {
    const own = plan.methods.map(({ name }) => runs.find((one) => one.seed === seed && one.method === name));
    const base = own.find((one) => one?.method === plan.baseline)?.success ?? null;
    return {
      seed,
      runs: own,
      differences: own.map((one) =>
        one === undefined || one.method === plan.baseline || one.success === null || base === null
          ? null
          : one.success - base,
      ),
    };
  });
}
