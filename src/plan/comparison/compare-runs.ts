import { plural } from 'command-kit/plural';
import type { PlayedGame } from '../../core/events.ts';
import { isFinal, type State } from '../../core/states.ts';
import type {
  ComparisonDetail,
  ComparisonPlan,
  ComparisonResult,
  ComparisonRun,
  RecordedRun,
} from '../../schemas/comparison.ts';
import { canonicalJson } from '../../schemas/json.ts';
import { type GameResult, type Judgement, judgeResults, UnpairedError } from './judge-results.ts';
import { average } from './paired-difference.ts';
import { errorOf, looksOf, undeclaredDifferences } from './plan-comparison.ts';
import { sentenceOf } from './sentence.ts';

/** A run with the games that count for it. */
export type CountedRun = ComparisonRun & { games: readonly PlayedGame[] };

const MAX_TEXTS = 20;
const MAX_GAMES = 20;

/** The part of a comparison that its runs decide. `runs`: in the order of the sweep, each seed with all methods. */
export function compareRuns(
  plan: ComparisonPlan,
  recorded: readonly RecordedRun[],
): Pick<ComparisonDetail, 'findings' | 'refusals' | 'look' | 'results' | 'differing'> & {
  runs: CountedRun[];
} {
  const runs = countedRuns(recorded);
  const refusals = refusalsOf(plan, recorded);
  const isOpen = ({ state }: CountedRun) => state === null || !isFinal(state as State);
  const open = plan.seeds.findIndex((seed) => runs.some((run) => run.seed === seed && isOpen(run)));
  const complete = open < 0 ? plan.seeds.length : open;
  const looks = looksOf(plan);
  const at = looks.findLastIndex((seeds) => seeds <= complete);
  const seeds = plan.seeds.slice(0, looks[at] ?? 0);
  const compared = runs.filter(({ seed }) => seeds.includes(seed));
  const results = at < 0 || refusals.length > 0 ? [] : judged(plan, compared, errorOf(plan, at), refusals);
  return {
    findings: findingsOf(runs),
    refusals: refusals.slice(0, MAX_TEXTS),
    look: { seeds: seeds.length, complete },
    runs,
    results,
    differing: results.length === 0 ? [] : differingGames(plan, compared),
  };
}

const nameOf = ({ method, seed, experiment }: Pick<RecordedRun, 'method' | 'seed' | 'experiment'>) =>
  `${method}, seed ${seed} (${experiment})`;

/** A run that ended without its evaluation counts each game of the panel with success 0: it is never omitted. */
function countedRuns(recorded: readonly RecordedRun[]): CountedRun[] {
  const panel = recorded.find((run) => run.panel !== null)?.panel?.games ?? [];
  return recorded.map(({ panel: own, resolved: _resolved, startedAt: _startedAt, ...run }) => {
    const isCounted = own === null && run.state !== null && isFinal(run.state) && run.state !== 'succeeded';
    const lost = () => panel.map((one) => ({ ...one, success: 0, score: 0, steps: 0, invalidSteps: 0 }));
    const games = own?.games ?? (isCounted ? lost() : []);
    const success = games.length === 0 ? null : average(games.map((one) => one.success));
    return { ...run, games, isCounted, success };
  });
}

/** Why the runs cannot be paired. */
function refusalsOf(plan: ComparisonPlan, recorded: readonly RecordedRun[]): string[] {
  const first = recorded.find(({ panel }) => panel !== null)?.panel;
  const digest = plan.digest ?? first?.digest;
  const spec = recorded.find(({ resolved }) => resolved !== null)?.resolved;
  return recorded.flatMap((run) => {
    const { panel, resolved, state } = run;
    const fields = resolved === null ? [] : undeclaredDifferences(plan, spec, resolved);
    const why = [
      ...(fields.length > 0 ? [`differs in ${fields.join(', ')}, which the plan does not declare`] : []),
      ...(panel === null && state === 'succeeded'
        ? [`recorded no evaluation of step ${plan.step} on the panel ${plan.panel}`]
        : []),
      ...(panel === null ? [] : panelProblems(plan, panel, { digest, decoding: first!.decoding })),
    ];
    return why.map((text) => `${nameOf(run)} ${text}.`);
  });
}

function panelProblems(
  plan: ComparisonPlan,
  panel: NonNullable<RecordedRun['panel']>,
  expected: { digest: string | undefined; decoding: Readonly<Record<string, string>> },
): string[] {
  const names = new Set(panel.games.map(({ game }) => game));
  if (panel.digest === '') return ['played a sampled panel: its games were drawn'];
  if (panel.digest !== expected.digest)
    return [`played another panel, with the digest ${panel.digest.slice(0, 12)}`];
  if (canonicalJson(panel.decoding) !== canonicalJson(expected.decoding))
    return ['was evaluated with other decoding settings'];
  if (panel.games.length !== names.size * plan.replicates)
    return [`played ${panel.games.length} results of ${names.size} games, not ${plan.replicates} of each`];
  return [];
}

const faultOf = ({ wrong }: CountedRun): string =>
  wrong > 0 ? plural(wrong, 'wrong row') : 'batches that contradict themselves or their parameters';

/** What a reader has to know before the result: wrong signals first. */
function findingsOf(runs: readonly CountedRun[]): string[] {
  const wrong = runs.filter(({ signal }) => signal === 'wrong');
  const sum = (of: (run: CountedRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const [verified, seen] = [sum((run) => run.rowsVerified), sum((run) => run.rowsSeen)];
  return [
    ...wrong.map((run) => `${nameOf(run)} has ${faultOf(run)}: it did not train by its method.`),
    `${verified.toLocaleString('en')} of ${seen.toLocaleString('en')} rows are verified.`,
    ...runs
      .filter(({ isCounted }) => isCounted)
      .map(
        (run) => `${nameOf(run)} ${run.state}: each of its games counts with success 0 until it runs again.`,
      ),
  ].slice(0, MAX_TEXTS);
}

/** Each method against the baseline; what cannot be paired is added to `refusals`. */
function judged(
  plan: ComparisonPlan,
  runs: readonly CountedRun[],
  error: number,
  refusals: string[],
): ComparisonResult[] {
  const results = runs.flatMap(({ method, seed, games }) =>
    games.map(({ game, replicate, success }): GameResult => {
      return { method, seed: String(seed), game, replicate: String(replicate), success };
    }),
  );
  const others = plan.methods.map(({ name }) => name).filter((name) => name !== plan.baseline);
  try {
    return others.map((candidate) => {
      const names = { candidate, baseline: plan.baseline };
      const judgement = judgeResults(results, names, plan.margin / 100, error);
      return { ...resultOf(candidate, judgement), level: 1 - error };
    });
  } catch (unpaired) {
    if (!(unpaired instanceof UnpairedError)) throw unpaired;
    refusals.push(unpaired.message);
    return [];
  }
}

function resultOf(method: string, judgement: Judgement): Omit<ComparisonResult, 'level'> {
  const { difference, candidate, baseline } = judgement;
  return {
    method,
    sentence: sentenceOf(method, difference),
    outcome: difference.outcome,
    seeds: difference.seeds,
    games: judgement.games,
    difference: difference.mean,
    interval: [...difference.interval],
    p: difference.p,
    signFlipP: difference.signFlipP,
    deviation: difference.deviation,
    runDeviation: [candidate.runDeviation, baseline.runDeviation],
    evaluationError: [candidate.evaluationError, baseline.evaluationError],
    detectable: difference.detectable,
    differences: [...judgement.differences],
  };
}

function differingGames(
  { methods }: ComparisonPlan,
  runs: readonly CountedRun[],
): ComparisonDetail['differing'] {
  const successes = new Map<string, Map<string, number[]>>();
  for (const { method, games } of runs)
    for (const { game, success } of games) {
      const own = successes.get(game) ?? new Map<string, number[]>();
      successes.set(game, own.set(method, [...(own.get(method) ?? []), success]));
    }
  const spread = ({ success }: { success: number[] }) => Math.max(...success) - Math.min(...success);
  return [...successes]
    .map(([game, own]) => ({ game, success: methods.map(({ name }) => average(own.get(name) ?? [0])) }))
    .filter((one) => spread(one) > 0)
    .sort((a, b) => spread(b) - spread(a))
    .slice(0, MAX_GAMES);
}
