import type { BatchReport } from 'echelon-verify/report';
import { StrictObject } from '../../../schemas/objects.ts';
import type { SignalPage } from '../../../schemas/records.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, PageQuery } from '../common.ts';
import { createBatchPages } from './batches.ts';

/** GET /v1/experiments/:id/signal. */
export function addSignal(app: App, { store, settings }: RouteDeps): void {
  const pages = createBatchPages(store, settings.cookieSecret);
  route(app, {
    at: 'GET /v1/experiments/:id/signal',
    operationId: 'listSignal',
    summary: 'List what each verified batch offers to learn from, for curves over the steps',
    description:
      'Figures of the report of each batch: how much of the spread of the step returns the states explain, adjusted for chance; contexts that differ under one observation; and shares of rows without signal. They describe the signal and do not predict success. Batches without observations and returns are omitted, so a page may have fewer items than `limit`.',
    tag: 'verification',
    params: ExperimentParams,
    querystring: StrictObject(PageQuery),
    answer: 'SignalPage',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<SignalPage> => {
      const { id } = await experimentOf(store, request, request.params.id);
      const { items, next } = await pages.page(id, request.query);
      return {
        items: items.flatMap(({ attempt, batch, step, report }) => {
          const values = valuesOf((report ?? {}) as Partial<BatchReport>);
          return values === undefined ? [] : [{ attempt, batch, step, values }];
        }),
        next,
      };
    },
  });
}

/** The figures of a report by name, without those that the batch does not have; undefined without a description. */
function valuesOf({ diagnosis }: Partial<BatchReport>): Record<string, number> | undefined {
  const signal = diagnosis?.signal;
  if (signal === undefined) return undefined;
  const figures = {
    ...Object.fromEntries(signal.keys.map(({ key, adjusted }) => [`adjusted R² of ${key}`, adjusted])),
    'contexts that differ': signal.contextInconsistency,
    'context off, in deviations': signal.contextBias,
    'rows compared with': signal.clusterSize,
    'effective trajectories': signal.effectiveTrajectories,
    'advantage 0': signal.shares.advantageZero,
    'alone in their state': signal.shares.alone,
    'groups of equal rewards': signal.shares.groupWithoutSpread,
    'penalties only': signal.shares.penaltyOnly,
    'groups without success': signal.shares.groupWithoutGoal,
    'parts of opposite signs': diagnosis!.partsDisagree,
  };
  return Object.fromEntries(
    Object.entries(figures).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}
