import type { FastifyReply } from 'fastify';
import { EchelonError } from '../../../core/errors.ts';
import type { Caller } from '../../../core/scopes.ts';
import { holderOf } from '../../../core/scopes.ts';
import type { ResolvedSpec } from '../../../engines/registry.ts';
import { compareRuns } from '../../../plan/comparison/compare-runs.ts';
import {
  figuresOf,
  planProblems,
  planWarnings,
  sweepOfPlan,
  undeclaredDifferences,
} from '../../../plan/comparison/plan-comparison.ts';
import { invalidSweep, makeChild } from '../../../plan/sweep.ts';
import {
  type Comparison,
  type ComparisonDetail,
  type ComparisonFigures,
  type ComparisonGames,
  type ComparisonPage,
  ComparisonPlan,
} from '../../../schemas/comparison.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { Sweep } from '../../../schemas/sweep.ts';
import type { Store } from '../../../store/store.ts';
import { listedProject } from '../../access/caller-projects.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import type { Slots } from '../../server/slots.ts';
import { NEW_WORK_REFUSALS, PageQuery, ProjectQuery, SWEEP_ACCEPTED } from '../common.ts';
import { accept, createChecks, judge } from '../sweeps/submit.ts';
import { SweepParams, sweepOf } from '../sweeps/sweeps.ts';

const EXAMPLE = {
  name: 'HGPO against GiGPO',
  spec: { engine: 'local', training: { steps: 40 }, evaluation: { games: 100, replicates: 3 } },
  methods: [
    { name: 'gigpo', set: { estimator: { name: 'gigpo' } } },
    { name: 'hgpo', set: { estimator: { name: 'hgpo', historyLength: 2 } } },
  ],
  baseline: 'gigpo',
  seeds: [1, 2, 3, 4, 5, 6, 7, 8],
  panel: 'local-rooms',
  step: 40,
  replicates: 3,
  margin: 5,
  deviation: 5,
};

/** Everything under /v1/comparisons. */
export function addComparisons(app: App, deps: RouteDeps): void {
  const checks = createChecks();
  addSubmit(app, deps, checks);
  addPreview(app, deps, checks);
  addList(app, deps);
  addRead(app, deps);
  addGames(app, deps);
}

function addSubmit(app: App, deps: RouteDeps, checks: Slots): void {
  route(app, {
    at: 'POST /v1/comparisons',
    operationId: 'submitComparison',
    idempotency: 'own',
    summary: 'Store the plan of a comparison and submit its runs as a sweep',
    description:
      'The plan cannot change from then on: no request changes it, and no early stopping applies to its runs: rules that stop runs by their metrics are refused. Specs of the methods that differ beyond the estimator and the declared fields are refused.',
    tag: 'comparisons',
    body: ComparisonPlan,
    examples: { estimators: EXAMPLE },
    answers: SWEEP_ACCEPTED,
    problems: [...NEW_WORK_REFUSALS],
    handler: async (request, reply) => {
      const { body, caller } = request;
      const { sweep, judged } = await judgePlan(deps, checks, { caller, body, reply });
      return accept(deps, { request, reply, body: sweep, judged, comparison: body });
    },
  });
}

function addPreview(app: App, deps: RouteDeps, checks: Slots): void {
  route(app, {
    at: 'POST /v1/comparisons/preview',
    operationId: 'previewComparison',
    scope: 'read',
    idempotency: 'ignored',
    audit: false,
    summary: 'Say what a comparison costs and shows, without running it',
    description:
      'Checks every run. Says how many seeds the margin needs, the GPU hours, and the smallest detectable difference. Stores nothing.',
    tag: 'comparisons',
    body: ComparisonPlan,
    answer: 'ComparisonFigures',
    problems: ['invalid-spec'],
    handler: async (request, reply): Promise<ComparisonFigures> => {
      const { body, caller } = request;
      const { judged } = await judgePlan(deps, checks, { caller, body, reply });
      const figures = figuresOf(body, judged.first[0]!.resolved.spec);
      return { ...figures, warnings: [...planWarnings(body, figures), ...judged.warnings] };
    },
  });
}

/** The runs of a plan, all valid. Throws EchelonError `invalid-spec`. */
async function judgePlan(
  deps: RouteDeps,
  checks: Slots,
  { caller, body, reply }: { caller: Caller; body: ComparisonPlan; reply: FastifyReply },
) {
  const problems = planProblems(body);
  if (problems.length > 0) throw invalidSweep(problems);
  const sweep = sweepOfPlan(body);
  const release = checks.take(holderOf(caller));
  const judged = await judge(deps, { caller, body: sweep, reply }).finally(release);
  requireNoEarlyStop(judged.first[0]!.resolved.spec);
  // The first children are the methods with the first seed.
  const [first, ...others] = judged.first.slice(0, body.methods.length).map(({ resolved }) => resolved.spec);
  const undeclared = others.flatMap((other) => undeclaredDifferences(body, first, other));
  if (undeclared.length === 0) return { sweep, judged };
  const message = `differ in ${[...new Set(undeclared)].join(', ')} once they are resolved; set these fields in spec, or name them in declared`;
  throw invalidSweep([{ field: '/methods', message }]);
}

/** A rule that stops runs by their results would choose among them. Throws EchelonError `invalid-spec`. */
function requireNoEarlyStop({ rules = [] }: ResolvedSpec['spec']): void {
  const chooses = ({ do: action, when }: (typeof rules)[number]) =>
    action !== 'mark' && when.metric !== undefined && when.notFinite === undefined;
  const rule = rules.find(chooses);
  if (rule === undefined) return;
  const message = `has the rule ${rule.name}, which stops runs by their metrics and so chooses among results; use do: mark, and planned looks`;
  throw invalidSweep([{ field: '/spec/rules', message }]);
}

function toComparison({ id, project, state, createdAt, comparison }: Sweep): Comparison {
  return { id, project, state, createdAt, plan: comparison! };
}

function addList(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/comparisons',
    operationId: 'listComparisons',
    summary: 'Comparisons, newest first',
    tag: 'comparisons',
    querystring: StrictObject({ ...PageQuery, ...ProjectQuery }),
    answer: 'ComparisonPage',
    problems: ['invalid-cursor'],
    handler: async (request): Promise<ComparisonPage> => {
      const { cursor, limit = 50 } = request.query;
      const project = listedProject(request.caller, request.query.project);
      const scope = `comparisons ${project ?? ''}`;
      const { items, next } = await store.sweeps.list({
        limit,
        comparisons: true,
        ...(project !== undefined && { project }),
        ...(cursor !== undefined && { before: cursors.open(scope, cursor) }),
      });
      return {
        items: items.map(toComparison),
        next: next === null ? null : cursors.seal(scope, next),
      };
    },
  });
}

/** The sweep of a comparison with its plan and runs. Throws EchelonError `not-found`. */
async function comparisonOf(store: Store, request: { caller: Caller }, id: string) {
  const sweep = await sweepOf(store, request, id, 'comparison');
  const plan = sweep.comparison;
  if (plan === null) throw new EchelonError('not-found', `The sweep ${id} is no comparison.`);
  const runs = await store.comparisons.runs(sweep);
  const starts = runs.flatMap(({ startedAt }) => (startedAt === null ? [] : [startedAt]));
  const startedAt = starts.length === 0 ? null : Math.min(...starts);
  return { sweep, plan, startedAt, compared: compareRuns(plan, runs) };
}

function addRead(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/comparisons/:id',
    operationId: 'getComparison',
    summary: 'Get a comparison: its plan, its runs and its result',
    description:
      'The result is the paired difference of each method to the baseline over the same games, with an interval clustered by seed. It is there from the first planned look on. Curves and best checkpoints of the runs are not part of the comparison.',
    tag: 'comparisons',
    params: SweepParams,
    answer: 'ComparisonDetail',
    problems: ['not-found'],
    handler: async (request): Promise<ComparisonDetail> => {
      const { sweep, plan, startedAt, compared } = await comparisonOf(store, request, request.params.id);
      const [first] = await store.sweeps.children(sweep, 0, 1);
      const spec = makeChild(sweep, first!.entry).resolved as ResolvedSpec['spec'];
      const runs = compared.runs.map(({ games: _games, ...run }) => run);
      return { ...toComparison(sweep), figures: figuresOf(plan, spec), startedAt, ...compared, runs };
    },
  });
}

function addGames(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/comparisons/:id/games',
    operationId: 'listComparisonGames',
    summary: 'List every game that a comparison is made from, by run',
    description:
      'From these results the comparison can be recomputed. A failed run has each game with success 0.',
    tag: 'comparisons',
    params: SweepParams,
    querystring: StrictObject(PageQuery),
    answer: 'ComparisonGames',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<ComparisonGames> => {
      const { cursor, limit = 20 } = request.query;
      const { sweep, compared } = await comparisonOf(store, request, request.params.id);
      const scope = `comparison games ${sweep.id}`;
      const from = cursor === undefined ? 0 : Number(cursors.open(scope, cursor));
      const end = from + Math.min(limit, 20);
      const items = compared.runs.slice(from, end).map((run) => ({ ...run, games: [...run.games] }));
      return { items, next: end < compared.runs.length ? cursors.seal(scope, String(end)) : null };
    },
  });
}
