import { EchelonError } from '../../core/errors.ts';
import { EXPERIMENT_ID } from '../../core/ids.ts';
import type { RevisedKind, RevisionStore } from '../experiments/contract.ts';
import type { StoreContext } from './context.ts';
import { guarded } from './errors.ts';

/** The answer of a script that was given another revision than the record has. */
const CHANGED_SINCE = 'changed-since';

/** See {@link RevisionStore}. */
export function createRevisions({ redis, keys }: StoreContext): RevisionStore {
  const read = (kind: RevisedKind, name: string) =>
    kind === 'experiment'
      ? redis.hget(keys.experiment(name), 'revision')
      : redis.hget(`${keys.root}:revisions`, `${kind}:${name}`);
  return {
    async get(kind, name) {
      // Other keys have the same prefix.
      if (kind === 'experiment' && !EXPERIMENT_ID.test(name)) return 0;
      return Number(await guarded(read(kind, name)));
    },
  };
}

/** EchelonError `precondition-failed`: the record has another revision than the change names. */
export function changedSince(): EchelonError {
  const problems = [{ field: 'if-match', message: 'is not the current ETag' }];
  const message = 'The record has changed since it was read. Read it again and send its current ETag.';
  return new EchelonError('precondition-failed', message, { problems });
}

/** The answer of a script that was given a revision; throws {@link changedSince} if the record has another one. */
export async function unlessChanged(answer: Promise<unknown>): Promise<unknown> {
  const outcome = await answer;
  if (outcome === CHANGED_SINCE) throw changedSince();
  return outcome;
}
