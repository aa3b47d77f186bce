import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import type { State } from '../../../core/states.ts';
import { Notes } from '../../../schemas/experiment.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { Priority } from '../../../schemas/spec-parts.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { revisionToChange } from '../../server/etag.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, notFound } from '../common.ts';
import { experimentDetail } from './experiment-detail.ts';

/** EchelonError `not-queued`. `state`: as read before the attempt to change it. */
export function notQueued(state: State): EchelonError {
  const now = state === 'queued' ? 'not queued any more' : state;
  return new EchelonError(
    'not-queued',
    `The experiment is ${now}. The priority can change only while an experiment is queued.`,
  );
}

const Change = Type.Partial(StrictObject({ priority: Priority, ...Notes }), {
  additionalProperties: false,
  minProperties: 1,
});

/** PATCH /v1/experiments/:id. */
export function addChange(app: App, deps: RouteDeps): void {
  const { store } = deps;
  route(app, {
    at: 'PATCH /v1/experiments/:id',
    operationId: 'changeExperiment',
    concurrency: 'experiment',
    summary: 'Change the note and the tags of an experiment, or the priority of a queued one',
    description:
      'With another priority, the experiment is queued after experiments of the same priority that were submitted earlier. A field that is omitted does not change.',
    tag: 'experiments',
    params: ExperimentParams,
    body: Change,
    answer: 'ExperimentDetail',
    problems: ['not-found', 'not-queued'],
    handler: async (request) => {
      const { id, state } = await experimentOf(store, request, request.params.id);
      const { priority, ...notes } = request.body;
      let revision = await revisionToChange(store, request, { kind: 'experiment', name: id });
      if (priority !== undefined) {
        const outcome = await store.queue.setPriority(id, priority, revision);
        if (outcome === 'not-found') throw notFound(id);
        if (outcome === 'not-queued') throw notQueued(state);
        revision = undefined;
      }
      if (
        Object.keys(notes).length > 0 &&
        (await store.experiments.annotate(id, notes, revision)) === 'not-found'
      )
        throw notFound(id);
      return experimentDetail(deps, await experimentOf(store, request, id), request.caller);
    },
  });
}
