import { setTimeout as delay } from 'node:timers/promises';
import { Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import { Priority } from '../../schemas/spec-parts.ts';
import { strict } from '../../schemas/strict.ts';
import { experimentDetail } from '../experiment-detail.ts';
import type { App, RouteDeps } from '../server/deps.ts';
import { problems } from '../server/responses.ts';
import { ExperimentParams, experimentOf, notFound } from './common.ts';

/** A changed priority waits this long for its job; what takes longer goes on by itself. */
const MOVE_MS = 200;

const Change = Type.Object({ priority: Priority }, strict);

/** PATCH /v1/experiments/:id. */
export function addPriority(app: App, deps: RouteDeps): void {
  const { store, line, log } = deps;
  app.patch(
    '/v1/experiments/:id',
    {
      schema: {
        operationId: 'changeExperiment',
        summary: 'Change the priority of an experiment that waits',
        description: 'It stands behind those of its new priority that came before it.',
        tags: ['experiments'],
        params: ExperimentParams,
        body: Change,
        response: { 200: { $ref: 'ExperimentDetail#' }, ...problems('not-found', 'not-queued') },
      },
    },
    async (request) => {
      const { id, state } = await experimentOf(store, request, request.params.id);
      const { priority } = request.body;
      const outcome = await store.setPriority(id, priority, request.readVersion);
      if (outcome === 'not-found') throw notFound(id);
      if (outcome === 'not-waiting') {
        const now = state === 'queued' ? 'not queued any more' : state;
        throw new EchelonError('not-queued', `The experiment is ${now}; a priority counts while it waits.`);
      }
      // The order is the store's; a job that keeps its old place is only looked at sooner or later.
      const moved = line.move(id, priority).catch((err: unknown) => {
        log.warn({ err, experiment: id }, 'the job of an experiment keeps its old priority');
      });
      await Promise.race([moved, delay(MOVE_MS, undefined, { ref: false })]);
      return experimentDetail(deps, await experimentOf(store, request, id), request.caller);
    },
  );
}
