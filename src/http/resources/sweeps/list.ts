import { Type } from 'typebox';
import { StrictObject } from '../../../schemas/objects.ts';
import { flag } from '../../../schemas/optional-fields.ts';
import type { Sweep } from '../../../schemas/sweep.ts';
import type { Store } from '../../../store/store.ts';
import { listedProject } from '../../access/caller-projects.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { PageQuery, ProjectQuery } from '../common.ts';
import { createBest } from './best.ts';

/** Sweeps that an order by a value sorts. */
const MAX_SORTED = 1_000;

/** What a list is sorted by; undefined: the sweep has no such value, and comes last. */
const ORDERS = {
  name: ({ name }) => name,
  progress: ({ counts, count }) => (counts.succeeded + counts.failed + counts.cancelled) / count,
  failed: ({ counts }) => counts.failed,
  best: ({ best, metric }) => (best ? (metric.goal === 'max' ? best.mean : -best.mean) : undefined),
  created: ({ createdAt }) => createdAt,
} satisfies Record<string, (sweep: Sweep) => string | number | undefined>;
type Order = keyof typeof ORDERS;

const DEFAULT_SORT = '-created';

/** GET /v1/sweeps. */
export function addSweepList(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  const setBest = createBest(store);
  route(app, {
    at: 'GET /v1/sweeps',
    operationId: 'listSweeps',
    summary: 'Sweeps, newest first or in another order',
    description: `Each sweep has the number of children in each state. The spec and the axes are only in GET of one sweep. An order by a value sorts the newest ${MAX_SORTED.toLocaleString('en-US')} sweeps.`,
    tag: 'sweeps',
    querystring: StrictObject({
      ...PageQuery,
      ...ProjectQuery,
      best: flag('Whether each sweep has its best combination. Default: false.'),
      sort: Type.Optional(
        Type.String({
          pattern: `^-?(${Object.keys(ORDERS).join('|')})$`,
          description:
            'Order of the list; a leading `-` puts the largest value first. `best`: mean of the best combination, where `-best` puts the best one first by the goal of each sweep; sweeps without a mean come last. `progress`: share of ended children. Default: `-created`.',
        }),
      ),
    }),
    answer: 'SweepPage',
    problems: ['invalid-cursor'],
    handler: async ({ caller, query }) => {
      const { cursor, limit = 50, sort = DEFAULT_SORT } = query;
      const project = listedProject(caller, query.project);
      const scope = `sweeps ${project ?? ''}${sort === DEFAULT_SORT ? '' : ` ${sort}`}`;
      const from = cursor === undefined ? undefined : cursors.open(scope, cursor);
      const own = project !== undefined && { project };
      const seal = (next: string | null) => (next === null ? null : cursors.seal(scope, next));
      if (sort === DEFAULT_SORT) {
        const { items, next } = await store.sweeps.list({ limit, ...own, ...(from && { before: from }) });
        if (query.best) await setBest(items);
        return { items, next: seal(next) };
      }
      const all = await newest(store, own);
      const needsBest = sort.endsWith('best');
      if (needsBest) await setBest(all);
      const first = Number(from ?? 0);
      const items = sorted(all, sort).slice(first, first + limit);
      if (query.best && !needsBest) await setBest(items);
      return { items, next: seal(first + limit < all.length ? String(first + limit) : null) };
    },
  });
}

async function newest(store: Pick<Store, 'sweeps'>, own: { project: string } | false): Promise<Sweep[]> {
  return (await store.sweeps.list({ limit: MAX_SORTED, ...own })).items;
}

function sorted(sweeps: readonly Sweep[], sort: string): Sweep[] {
  const value: (sweep: Sweep) => string | number | undefined = ORDERS[sort.replace('-', '') as Order];
  const sign = sort.startsWith('-') ? -1 : 1;
  return sweeps.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined);
    return left === right ? 0 : left < right ? -sign : sign;
  });
}
