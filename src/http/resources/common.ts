import { type Static, Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import { EXPERIMENT_ID, parseEntryId } from '../../core/ids.ts';
import { type Caller, sees } from '../../core/scopes.ts';
import type { State } from '../../core/states.ts';
import { allEngines, type ExperimentSpec } from '../../engines/registry.ts';
import type { Pause } from '../../schemas/answer-parts.ts';
import { Text } from '../../schemas/answer-parts.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import { metricName } from '../../schemas/metric-name.ts';
import { StrictObject } from '../../schemas/objects.ts';
import { count, text } from '../../schemas/optional-fields.ts';
import type { Store } from '../../store/store.ts';
import { located } from '../server/operation.ts';

/** The body of a route that takes a spec, with an example of each engine. */
export const SPEC_BODY = {
  // The check of a spec does it.
  secrets: 'handler' as const,
  body: Type.Unsafe<ExperimentSpec>({ $ref: 'ExperimentSpec#' }),
  examples: Object.fromEntries(allEngines().map(({ name, example }) => [name, example])),
};

/** Codes of what a request that brings new work may be refused for, each documented in `error-docs.ts`. */
export const NEW_WORK_REFUSALS = [
  'invalid-spec',
  'queue-closed',
  'queue-full',
  'quota-exceeded',
  'store-full',
] as const;

/** The answer to a sweep that was accepted. */
export const SWEEP_ACCEPTED = { 202: located('Accepted', 'SweepAccepted', 'Path of the sweep.') };

/** Query of a list: a page of it. */
export const PageQuery = {
  cursor: Type.Optional(
    Type.String({ maxLength: 1000, description: '`next` of the previous page. Default: the first page.' }),
  ),
  limit: count(1, 200, 'Maximum number of items per page. Default: 50.'),
};

/** Query of a list: what belongs to a project. */
export const ProjectQuery = {
  project: text(1, 63, 'Return only items of this project.'),
};

/** The optional body of a cancel. */
export const CancelBody = StrictObject({
  reason: Type.Optional(Type.String({ maxLength: 200, description: 'Reason to show with the state.' })),
});

/** The reason that is kept with what a request cancels. */
export function cancelReason(body: Static<typeof CancelBody> | undefined): string {
  return `cancelled by request${body?.reason ? `: ${body.reason}` : ''}`;
}

/** The optional body of a pause. */
export const PauseBody = StrictObject({
  reason: text(1, 200, 'Reason to show with the pause'),
});

/** The pause that a request with this body means. */
export function pauseBy(
  { name }: { name: string },
  body: Static<typeof PauseBody> | undefined,
  at: number,
): Pause {
  return { by: name, at, reason: body?.reason ?? null };
}

/** Names in a query, at most so many. */
export function namesQuery(maxItems: number, description: string) {
  // Values are split at commas, so that a longest length of one could not be said truly; headers bound them all.
  return Type.Array(metricName('Name of a metric, or its start with `*`.'), { maxItems, description });
}

/** Path parameters of everything below an experiment. */
export const ExperimentParams = StrictObject({ id: Text('Id of the experiment.') });

/** `after` of the endpoints that read a stream. */
export const AfterParam = Type.Optional(Text('Return only entries after this stream id.'));

/**
 * The experiment of that id, if the caller may see it. Throws EchelonError `not-found`, the same for one of another
 * project as for none at all, and after the same look-up; an id that cannot exist costs none.
 */
export async function experimentOf(
  store: Pick<Store, 'experiments' | 'projects'>,
  { caller }: { caller: Caller },
  id: string,
): Promise<Experiment> {
  if (!EXPERIMENT_ID.test(id)) throw notFound(id);
  // The whole record of another project's experiment would take longer to read than none.
  if (caller.project !== null && !(await store.projects.contains(caller.project, id))) throw notFound(id);
  const experiment = await store.experiments.get(id);
  if (experiment === undefined || !sees(caller, experiment.project)) throw notFound(id);
  return experiment;
}

/** EchelonError `not-found` of an experiment. */
export function notFound(id: string): EchelonError {
  return new EchelonError('not-found', `There is no experiment ${id.slice(0, 40)}.`);
}

/**
 * A stream id that a client sent, for this experiment. Throws EchelonError `invalid-cursor` for what is none, or
 * stands behind an attempt that does not exist: it was not given out for this experiment.
 */
export function streamPlace(input: { value: string | undefined; field: string; experiment: Experiment }) {
  const { value, field, experiment } = input;
  if (value === undefined) return undefined;
  const place = parseEntryId(value);
  if (place === undefined || place.attempt > experiment.attempt) {
    throw new EchelonError('invalid-cursor', 'The stream id does not belong to this experiment.', {
      problems: [{ field, message: 'send the id of an event of this experiment, or omit it' }],
    });
  }
  return value;
}

/** EchelonError `not-queued`. `state`: as read before the attempt to change it. */
export function notQueued(state: State): EchelonError {
  const now = state === 'queued' ? 'not queued any more' : state;
  return new EchelonError(
    'not-queued',
    `The experiment is ${now}. The priority can change only while an experiment is queued.`,
  );
}
