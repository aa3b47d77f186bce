import { type Static, Type } from 'typebox';
import type { FieldProblem } from '../core/errors.ts';
import { EXPERIMENT_ID } from '../core/ids.ts';
import { StrictObject } from '../schemas/objects.ts';
import { count } from '../schemas/optional-fields.ts';

const CHECKPOINT_DIRECTORY = '^(?!.*\\.\\.)[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9][A-Za-z0-9._-]{0,149}$';

/** Which checkpoint of a verl-agent training a spec reads. */
export const CheckpointReference = StrictObject({
  experiment: Type.Optional(
    Type.String({
      pattern: EXPERIMENT_ID.source,
      description:
        'Id of the training. Its cluster, checkpoint directory and last checkpoint are filled in, and its environment variables, home, model and GPUs where omitted. Replaces `directory`. A training that has not ended needs `step`.',
    }),
  ),
  directory: Type.Optional(
    Type.String({
      pattern: CHECKPOINT_DIRECTORY,
      description:
        "Checkpoint directory of the training below the checkpoints of the spec's project on the cluster, e.g. recipe/name-hash. The plan of the training names it.",
    }),
  ),
  step: count(1, 1e9, 'Step of the checkpoint. Default: the latest.'),
});
export type CheckpointReference = Static<typeof CheckpointReference>;

/** A reference after the training that it named was looked up. */
export type ResolvedCheckpoint = Pick<CheckpointReference, 'step'> & { directory: string };

/** What is wrong with a reference at `field` that was not completed: it needs a directory, and nothing else names one. */
export function referenceProblems(
  { experiment, directory }: CheckpointReference,
  field: string,
): FieldProblem[] {
  if (experiment === undefined) {
    if (directory !== undefined) return [];
    const message = 'names no training; set experiment to the id of one, or directory';
    return [{ field, message }];
  }
  const message =
    directory === undefined
      ? 'is looked up by the server, in a single spec or in the spec that all children of a sweep share; elsewhere set directory'
      : 'contradicts directory; remove one of the two';
  return [{ field: `${field}/experiment`, message }];
}
