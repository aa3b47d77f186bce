import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { sees } from '../../../core/scopes.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { Usage } from '../../../schemas/usage.ts';
import { USAGE_DAYS } from '../../../store/usage/usage.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const Day = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description }));
const Query = StrictObject({
  from: Day('First day (UTC), as 2026-01-31. Default: 29 days before `to`.'),
  to: Day('Last day (UTC). Default: today.'),
});

/** GET /v1/usage. */
export function addUsage(app: App, { store, settings, clock }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/usage',
    operationId: 'getUsage',
    summary: 'Get the GPU hours and the cost of a period',
    description: `An attempt counts with its GPUs from their allocation until they are free again, also on several nodes; a running attempt counts until now. Days are retained for ${USAGE_DAYS} days, whatever becomes of the experiments. External runs and GPU time that other programs take are not counted. Today's prices apply to the whole period. A key that is bound to a project sees that project only.`,
    tag: 'clusters',
    querystring: Query,
    answer: 'Usage',
    handler: async ({ query, caller }): Promise<Usage> => {
      const to = dayOf('to', query.to) ?? Math.floor(clock.now() / DAY_MS);
      const from = dayOf('from', query.from) ?? to - 29;
      if (from > to || to - from >= USAGE_DAYS)
        throw invalid('from', `must be at most ${USAGE_DAYS - 1} days before \`to\`, and not after it`);
      const prices = settings.gpuPrices ?? {};
      const items = (await store.usage.read(from, to))
        .filter(({ project }) => sees(caller, project))
        .map(({ gpuMs, cpuMs, ...group }) => {
          const gpuHours = gpuMs / HOUR_MS;
          return { ...group, gpuHours, cpuHours: cpuMs / HOUR_MS, cost: costOf(gpuHours, group, prices) };
        })
        .sort((a, b) => b.gpuHours - a.gpuHours);
      const costs = items.map(({ cost }) => cost);
      return {
        from: textOf(from),
        to: textOf(to),
        gpuHours: items.reduce((sum, { gpuHours }) => sum + gpuHours, 0),
        cost: costs.reduce<number | null>(
          (sum, cost) => (sum === null || cost === null ? null : sum + cost),
          0,
        ),
        items,
      };
    },
  });
}

/** Null: the GPU type has no price. The most specific price applies. */
function costOf(
  hours: number,
  { cluster, gpuType }: { cluster: string; gpuType: string },
  prices: Readonly<Record<string, number>>,
): number | null {
  if (hours === 0) return 0;
  const names = [`${cluster}/${gpuType}`, `${cluster}/*`, gpuType, '*'];
  const name = names.find((one) => Object.hasOwn(prices, one));
  return name === undefined ? null : hours * prices[name]!;
}

function dayOf(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const day = Date.parse(`${text}T00:00:00Z`) / DAY_MS;
  if (Number.isNaN(day) || textOf(day) !== text) throw invalid(field, `must be a day, but ${text} is none`);
  return day;
}

function textOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function invalid(field: string, message: string): EchelonError {
  return new EchelonError('invalid-request', `\`${field}\` ${message}.`, {
    problems: [{ field: `/${field}`, message }],
  });
}
