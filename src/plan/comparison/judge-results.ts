import { average, deviationOf, type PairedDifference, pairedDifference } from './paired-difference.ts';

/** The result of one game: by which method, from the training with which seed, in which replicate of the evaluation. */
export interface GameResult {
  readonly method: string;
  readonly seed: string;
  readonly game: string;
  readonly replicate: string;
  /** 1: solved, 0: not; anything between counts as a part. */
  readonly success: number;
}

/** What the results say of a method alone; all in shares of 1. */
export interface MethodResult {
  /** Success of each seed's final checkpoint, in the order of the seeds. */
  readonly success: readonly number[];
  readonly mean: number;
  /** Standard error of one checkpoint's success by chance of the evaluation; an upper bound if each game has one replicate. */
  readonly evaluationError: number;
  /** Deviation between training runs without the evaluation's part. */
  readonly runDeviation: number;
}

/** The judgement of two methods on one panel of games. */
export interface Judgement {
  readonly seeds: readonly string[];
  readonly games: number;
  readonly replicates: number;
  readonly candidate: MethodResult;
  readonly baseline: MethodResult;
  /** Candidate minus baseline, of each seed and judged. */
  readonly differences: readonly number[];
  readonly difference: PairedDifference;
}

/** Why results cannot be paired; the message is for the user. */
export class UnpairedError extends Error {}

type Cell = Map<string, Map<string, number>>;

/**
 * Pairs two methods by seed and game, and judges their difference. Throws {@link UnpairedError} unless both methods have the same seeds (at
 * least two), and each of these runs the same games equally often. `margin`: in shares of 1.
 */
export function judgeResults(
  results: readonly GameResult[],
  names: { candidate: string; baseline: string },
  margin: number,
  alpha?: number,
): Judgement {
  const runs = byRun(results);
  const seedsOf = (method: string) => [...(runs.get(method)?.keys() ?? [])];
  const seeds = seedsOf(names.baseline);
  requireSameSeeds(names, seeds, seedsOf(names.candidate));
  const cells = (method: string) => seeds.map((seed) => runs.get(method)!.get(seed)!);
  const panel = requireSamePanel(names, seeds, cells);
  const candidate = methodResult(cells(names.candidate));
  const baseline = methodResult(cells(names.baseline));
  const differences = candidate.success.map((own, at) => own - baseline.success[at]!);
  return {
    seeds,
    ...panel,
    candidate,
    baseline,
    differences,
    difference: pairedDifference(differences, margin, alpha),
  };
}

/** Results by method and seed, each by game and replicate. */
function byRun(results: readonly GameResult[]): Map<string, Map<string, Cell>> {
  const runs = new Map<string, Map<string, Cell>>();
  for (const { method, seed, game, replicate, success } of results) {
    const replicates = within(within(within(runs, method), seed), game);
    if (replicates.has(replicate))
      throw new UnpairedError(
        `${method}, seed ${seed}, game ${game}, replicate ${replicate} is there twice. Each replicate of a game counts once.`,
      );
    replicates.set(replicate, success);
  }
  return runs;
}

function within<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const inner = map.get(key) ?? new Map<string, V>();
  map.set(key, inner);
  return inner;
}

function requireSameSeeds(
  { candidate, baseline }: { candidate: string; baseline: string },
  ofBaseline: readonly string[],
  ofCandidate: readonly string[],
): void {
  for (const [method, own, other] of [
    [candidate, ofCandidate, ofBaseline],
    [baseline, ofBaseline, ofCandidate],
  ] as const) {
    const missing = other.find((seed) => !own.includes(seed));
    if (missing !== undefined)
      throw new UnpairedError(
        `${method} has no results of seed ${missing}. Repeat a failed run with its seed, or count its games with success 0; never omit it.`,
      );
  }
  if (ofBaseline.length < 2)
    throw new UnpairedError(
      `The results have ${ofBaseline.length} seed, which compares two checkpoints, not two methods. Train each method with more seeds.`,
    );
}

function requireSamePanel(
  { candidate, baseline }: { candidate: string; baseline: string },
  seeds: readonly string[],
  cells: (method: string) => Cell[],
): { games: number; replicates: number } {
  const first = cells(baseline)[0]!;
  const replicates = first.values().next().value!.size;
  for (const method of [baseline, candidate])
    for (const [at, cell] of cells(method).entries()) {
      const where = `${method}, seed ${seeds[at]}`;
      const other = [...cell.keys()].find((game) => !first.has(game));
      if (other !== undefined)
        throw new UnpairedError(
          `${where} has the game ${other}, which ${baseline}, seed ${seeds[0]} has not.`,
        );
      for (const game of first.keys()) {
        const count = cell.get(game)?.size ?? 0;
        if (count !== replicates)
          throw new UnpairedError(
            `${where} has ${count} replicates of the game ${game}, not ${replicates}. All runs need the same games equally often.`,
          );
      }
    }
  return { games: first.size, replicates };
}

function methodResult(cells: readonly Cell[]): MethodResult {
  const games = cells.map((cell) => [...cell.values()].map((game) => [...game.values()]));
  const success = games.map((panel) => average(panel.map(average)));
  const evaluation = average(games.map((panel, at) => evaluationVariance(panel, success[at]!)));
  return {
    success,
    mean: average(success),
    evaluationError: Math.sqrt(evaluation),
    runDeviation: Math.sqrt(Math.max(0, deviationOf(success) ** 2 - evaluation)),
  };
}

/** Variance of a checkpoint's success over a fixed panel: from the replicates of each game, or its bound p(1 − p) if there is one. */
function evaluationVariance(panel: readonly (readonly number[])[], success: number): number {
  const replicates = panel[0]!.length;
  const ofGame =
    replicates === 1
      ? success * (1 - success)
      : average(panel.map((game) => deviationOf(game) ** 2)) / replicates;
  return ofGame / panel.length;
}
