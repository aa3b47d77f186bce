import { EchelonError } from '../../core/errors.ts';
import { EXPERIMENT_ID } from '../../core/ids.ts';
import type { StoreContext } from '../redis/context.ts';
import type { RecordsStore } from './records-contract.ts';

/** What an atomic step answers where the record has another version than the one that was named. */
const CHANGED_SINCE = 'changed-since';

/** See {@link RecordsStore.recordVersion}. */
export function createVersions({ run }: StoreContext): Pick<RecordsStore, 'recordVersion'> {
  return {
    async recordVersion(kind, name) {
      // Before anything is asked: other keys than records begin with the same text.
      if (kind === 'experiment' && !EXPERIMENT_ID.test(name)) return '';
      return (await run('record-version', [kind, name])) as string;
    },
  };
}

/** EchelonError `precondition-failed`: the record is not what the change was decided on. */
export function changedSince(): EchelonError {
  const problems = [{ field: 'if-match', message: 'read it again, and send the ETag of that answer' }];
  const message = 'It has changed since it was read: its ETag is another one now.';
  return new EchelonError('precondition-failed', message, { problems });
}

/** The answer of an atomic step that was told a version; throws {@link changedSince} where it was refused for it. */
export async function unlessChanged(answer: Promise<unknown>): Promise<unknown> {
  const outcome = await answer;
  if (outcome === CHANGED_SINCE) throw changedSince();
  return outcome;
}
