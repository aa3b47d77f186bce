import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { SWEEP_ID } from '../../../core/ids.ts';
import { type Caller, sees } from '../../../core/scopes.ts';
import {
  clusterProblems,
  customCodeOf,
  type ExperimentSpec,
  permissionProblems,
} from '../../../engines/registry.ts';
import { invalidSpec } from '../../../engines/validate-spec.ts';
import { childReference, referenceMetrics } from '../../../plan/preset-sweep.ts';
import { childSpec, childValues, makeChild } from '../../../plan/sweep.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { Sweep, SweepComparison, SweepDetail } from '../../../schemas/sweep.ts';
import type { Store } from '../../../store/store.ts';
import type { SweepChild, SweepRecord } from '../../../store/sweeps/types.ts';
import { createIntake } from '../../intake/intake.ts';
import { requireScope } from '../../server/auth.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { CancelBody, cancelReason, namesQuery, PageQuery } from '../common.ts';
import { enqueue, removeJobs } from '../experiments/enqueue.ts';
import { childrenOf, figuresOf, PAGE } from './children.ts';
import { combinationsOf, compareCombination, seedAxes } from './comparison.ts';
import { addSweepList } from './list.ts';
import { addSweepSubmit } from './submit.ts';

/** Path parameters of one sweep. */
export const SweepParams = StrictObject({ id: Text('Id of the sweep.') });

/** Everything under /v1/sweeps. */
export function addSweeps(app: App, deps: RouteDeps): void {
  addSweepSubmit(app, deps);
  addSweepList(app, deps);
  addRead(app, deps);
  addComparison(app, deps);
  addCancel(app, deps);
  addRerun(app, deps);
}

/** As for experiments: the sweep of that id, if the caller may see it. Throws EchelonError `not-found`. */
export async function sweepOf(
  store: Pick<Store, 'projects' | 'sweeps'>,
  { caller }: { caller: Caller },
  id: string,
  what = 'sweep',
): Promise<SweepRecord> {
  const absent = () => new EchelonError('not-found', `There is no ${what} ${id.slice(0, 40)}.`);
  if (!SWEEP_ID.test(id)) throw absent();
  if (caller.project !== null && !(await store.projects.contains(caller.project, id))) throw absent();
  const sweep = await store.sweeps.get(id);
  if (sweep === undefined || !sees(caller, sweep.project)) throw absent();
  return sweep;
}

/** The record without what only its detail shows. */
function summary(record: SweepRecord): Sweep {
  const { spec: _spec, axes: _axes, ...sweep } = shown(record);
  return sweep;
}

/** The record without what only the store counts by. */
function shown({ free: _free, freeMade: _freeMade, ends: _ends, ...sweep }: SweepRecord) {
  return sweep;
}

function addRead(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/sweeps/:id',
    operationId: 'getSweep',
    concurrency: 'digest',
    summary: 'Get a sweep with a page of its children',
    description:
      'Children are listed by index. Before a child exists, `state` is null and `experiment` is its future id. A child that was run again replaces the failed one.',
    tag: 'sweeps',
    params: SweepParams,
    querystring: StrictObject(PageQuery),
    answer: 'SweepDetail',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<SweepDetail> => {
      const { cursor, limit = 50 } = request.query;
      const sweep = await sweepOf(store, request, request.params.id);
      const scope = `sweep ${sweep.id}`;
      const from = cursor === undefined ? 0 : Number(cursors.open(scope, cursor));
      const children = await store.sweeps.children(sweep, from, limit);
      const next = from + children.length;
      return {
        ...shown(sweep),
        children: children.map(({ entry, fingerprint: _fingerprint, ...child }) => ({
          ...child,
          values: childValues(sweep.axes, entry),
        })),
        next: next < sweep.count ? cursors.seal(scope, String(next)) : null,
      };
    },
  });
}

function addComparison(app: App, { store, settings, clock }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/sweeps/:id/comparison',
    operationId: 'compareSweep',
    summary: 'Compare the combinations of a sweep, aggregated over seeds',
    description:
      'For each metric: mean, standard deviation, count and confidence interval of the last values of succeeded children. Row counts are totals of the combination.',
    tag: 'sweeps',
    params: SweepParams,
    querystring: StrictObject({
      ...PageQuery,
      metrics: Type.Optional(
        namesQuery(
          16,
          'Metrics to compare. Default: the metric of the sweep; for a preset, also the metrics with published figures.',
        ),
      ),
      over: Type.Optional(
        namesQuery(16, 'JSON pointers of the axes to aggregate over. Default: axes that end in `seed`.'),
      ),
    }),
    answer: 'SweepComparison',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<SweepComparison> => {
      const sweep = await sweepOf(store, request, request.params.id);
      const { cursor, limit = 50, metrics = metricsOf(sweep) } = request.query;
      const over = axesNamed(sweep, request.query.over);
      const scope = `comparison ${sweep.id} ${over.join(' ')}`;
      const from = cursor === undefined ? 0 : Number(cursors.open(scope, cursor));
      const all = combinationsOf(sweep.axes, await childrenOf(store, sweep), over);
      const items = [];
      for (const combination of all.slice(from, from + limit)) {
        const ids = combination.children.map(({ experiment }) => experiment);
        const figures = await figuresOf(store, ids, metrics);
        const [{ entry }] = combination.children as [SweepChild];
        const reference = sweep.method === 'preset' ? childReference(sweep.spec, entry) : null;
        const customCode = customCodeOf(childSpec(sweep, entry) as unknown as ExperimentSpec);
        const more = { metrics, now: clock.now(), reference, customCode };
        items.push(compareCombination(combination, figures, more));
      }
      const next = from + items.length < all.length ? cursors.seal(scope, String(from + items.length)) : null;
      return { over, metrics, items, next };
    },
  });
}

/** The metric of the sweep, and those with published figures. */
function metricsOf({ method, spec, metric }: SweepRecord): string[] {
  const compared = method === 'preset' ? referenceMetrics(spec) : [];
  return [...new Set([metric.name, ...compared])];
}

/** The named axes; by default those that are seeds. Throws EchelonError `invalid-request` for an unknown axis. */
export function axesNamed(sweep: SweepRecord, named: readonly string[] | undefined): string[] {
  if (named === undefined) return seedAxes(sweep.axes);
  const known = sweep.axes.map(({ pointer }) => pointer);
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return [...named];
  throw new EchelonError('invalid-request', 'The sweep has no such axis.', {
    problems: [{ field: 'over', message: `must name axes of this sweep: ${known.join(', ')}` }],
  });
}

function addCancel(app: App, deps: RouteDeps): void {
  const { store, clock } = deps;
  route(app, {
    at: 'POST /v1/sweeps/:id/cancel',
    operationId: 'cancelSweep',
    summary: 'Cancel a sweep with all its children',
    description:
      'No further child starts after this response. Queued and running children are cancelled one after another, even if the response is lost. The request body is optional.',
    tag: 'sweeps',
    params: SweepParams,
    optionalBody: CancelBody,
    answers: {
      202: { $ref: 'Sweep#' },
    },
    problems: ['not-found', 'already-final'],
    handler: async (request, reply) => {
      const { id } = await sweepOf(store, request, request.params.id);
      if ((await store.sweeps.cancel(id, cancelReason(request.body))) === 'already-final') {
        throw new EchelonError('already-final', 'Every child has ended already; there is nothing to cancel.');
      }
      // What is left after this time, or after a crash, the dispatchers do.
      const deadline = clock.now() + MAX_CANCEL_MS;
      for (let from: number | null = 0; from !== null && clock.now() < deadline; ) {
        const { cancelled, next } = await store.sweeps.cancelChildren(id, from);
        from = next;
        removeJobs(deps, cancelled);
      }
      return reply.code(202).send(summary(await sweepOf(store, request, id)));
    },
  });
}

/** Problems that a refused rerun names: equal children have equal ones. */
const NAMED_PROBLEMS = 20;

/**
 * Throws EchelonError `forbidden` if the caller may not submit the spec of a failed child: a rerun needs the same scope. Throws
 * `invalid-spec` if a cluster does not allow it any more.
 */
async function requirePermissions(
  deps: RouteDeps,
  caller: Caller,
  sweep: SweepRecord,
  children: readonly SweepChild[],
): Promise<void> {
  const specs = children
    .filter(({ state }) => state === 'failed')
    .map(({ entry }) => childSpec(sweep, entry) as unknown as ExperimentSpec);
  const intake = createIntake(deps, caller);
  for (const cluster of new Set(specs.map((spec) => spec.cluster ?? null))) {
    const permissions = await intake.permissions(cluster, true);
    const there = specs.filter((spec) => (spec.cluster ?? null) === cluster);
    const problems = there.flatMap((spec) => clusterProblems(spec, permissions));
    if (problems.length > 0) throw invalidSpec(problems.slice(0, NAMED_PROBLEMS));
    if (there.some((spec) => permissionProblems(spec, permissions).length > 0))
      requireScope(caller, 'custom-code');
  }
}

const MAX_CANCEL_MS = 10_000;

function addRerun(app: App, deps: RouteDeps): void {
  const { store } = deps;
  route(app, {
    at: 'POST /v1/sweeps/:id/rerun-failed',
    operationId: 'rerunFailed',
    summary: 'Run the failed children of a sweep again',
    body: null,
    description:
      'Each failed child is replaced by a new experiment. A repetition runs children that failed since, and continues if the limit of queued experiments was reached. The request has no body.',
    tag: 'sweeps',
    params: SweepParams,
    answers: {
      202: { $ref: 'SweepRerun#' },
    },
    problems: [
      ...['not-found', 'invalid-spec', 'already-final', 'queue-closed'],
      ...['queue-full', 'quota-exceeded', 'store-full'],
    ] as const,
    handler: async (request, reply) => {
      const sweep = await sweepOf(store, request, request.params.id);
      if (sweep.state === 'cancelled') {
        throw new EchelonError(
          'already-final',
          'The sweep was cancelled, so its experiments cannot run again. Submit a new sweep.',
        );
      }
      let rerun = 0;
      for (let from = 0; from < sweep.count; from += PAGE) {
        const children = await store.sweeps.children(sweep, from, PAGE);
        await requirePermissions(deps, request.caller, sweep, children);
        const made = await store.sweeps.rerunChildren(sweep, children, makeChild);
        rerun += made.length;
        enqueue(deps, made);
      }
      return reply.code(202).send({ rerun, sweep: summary(await sweepOf(store, request, sweep.id)) });
    },
  });
}
