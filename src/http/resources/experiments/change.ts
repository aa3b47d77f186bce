import { Type } from 'typebox';
import { Notes } from '../../../schemas/experiment.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { Priority } from '../../../schemas/spec-parts.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { revisionToChange } from '../../server/etag.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, notFound, notQueued } from '../common.ts';
import { experimentDetail } from './experiment-detail.ts';

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
    problems: ['not-found', 'not-queued', 'store-full'],
    handler: async (request) => {
      const { id, state } = await experimentOf(store, request, request.params.id);
      const { priority, ...notes } = request.body;
      const revision = await revisionToChange(store, request, { kind: 'experiment', name: id });
      // A priority alone can be changed while Redis has no memory left for notes.
      const alone = priority !== undefined && Object.keys(notes).length === 0;
      const outcome = alone
        ? await store.queue.setPriority(id, priority, revision)
        : await store.experiments.annotate(id, request.body, revision);
      if (outcome === 'not-found') throw notFound(id);
      if (outcome === 'not-queued') throw notQueued(state);
      return experimentDetail(deps, await experimentOf(store, request, id), request.caller);
    },
  });
}
