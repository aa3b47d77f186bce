import { EchelonError } from '../../core/errors.ts';
import { EXPERIMENT_ID } from '../../core/ids.ts';
import type { RevisedKind, RevisionStore } from '../experiments/contract.ts';
import type { StoreContext } from './context.ts';
import { guarded } from './errors.ts';

/** The answer of an atomic step that was told another revision than the record has. */
const CHANGED_SINCE = 'changed-since';

/** See {@link RevisionStore.revision}. */
export function createRevisions({ redis, keys }: StoreContext): RevisionStore {
  const read = (kind: RevisedKind, name: string) =>
    kind === 'experiment'
      ? redis.hget(keys.experiment(name), 'revision')
      : redis.hget(`${keys.root}:revisions`, `${kind}:${name}`);
  return {
    async get(kind, name) {
      // Other keys than records begin with the same text.
      if (kind === 'experiment' && !EXPERIMENT_ID.test(name)) return 0;
      return Number(await guarded(read(kind, name)));
    },
  };
}

/** EchelonError `precondition-failed`: the record is not what the change was decided on. */
export function changedSince(): EchelonError {
  const problems = [{ field: 'if-match', message: 'read it again, and send the ETag of that answer' }];
  const message = 'It has changed since it was read: its ETag is another one now.';
  return new EchelonError('precondition-failed', message, { problems });
}

/** The answer of an atomic step that was told a revision; throws {@link changedSince} if it was refused for it. */
export async function unlessChanged(answer: Promise<unknown>): Promise<unknown> {
  const outcome = await answer;
  if (outcome === CHANGED_SINCE) throw changedSince();
  return outcome;
}
