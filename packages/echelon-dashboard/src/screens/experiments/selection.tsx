import { counted } from 'command-kit/plural';
import type { Experiment } from 'echelon-client/calls';
import { useState } from 'preact/hooks';
import { api } from '../../app/api.ts';
import { may } from '../../app/session.ts';
import { isFinal } from '../../models/experiments.ts';
import { Confirm } from '../../parts/dialog.tsx';

/** Experiments that one comparison shows. */
const COMPARED = 5;

interface SelectionProps {
  selected: readonly Experiment[];
  onClear: () => void;
  onChange: () => void;
}

/** What can be done with several experiments at once. */
export function Selection({ selected, onClear, onChange }: SelectionProps) {
  const [tag, setTag] = useState('');
  const open = selected.filter(({ state }) => !isFinal(state));
  const compared = selected.slice(0, COMPARED).map(({ id }) => `id=${id}`);
  const each = async (of: readonly Experiment[], act: (one: Experiment) => Promise<unknown>) => {
    const failed: string[] = [];
    for (const one of of)
      await act(one).catch((error: Error) => failed.push(`${one.name}: ${error.message}`));
    onChange();
    if (failed.length > 0) throw new Error(failed.join(' '));
    onClear();
  };
  const withTag = ({ tags }: Experiment) => [...new Set([...tags, tag.trim()])];
  return (
    <div class="selection line-of-parts" role="group" aria-label="Selected experiments">
      <strong>{counted(selected.length, 'experiment')} selected</strong>
      <a class="button" href={`/compare?${compared.join('&')}`}>
        Compare{selected.length > COMPARED ? ` the first ${COMPARED}` : ''}
      </a>
      {may.value('submit') && (
        <>
          <Confirm
            label="Tag"
            title={`Tag ${counted(selected.length, 'experiment')}`}
            verb="Add the tag"
            isReady={tag.trim() !== ''}
            act={() =>
              each(selected, (one) =>
                api.patch('/v1/experiments/{id}', { path: { id: one.id }, body: { tags: withTag(one) } }),
              )
            }
          >
            <label>
              Tag <input value={tag} maxLength={50} onInput={(event) => setTag(event.currentTarget.value)} />
            </label>
          </Confirm>
          <Confirm
            label="Run again"
            title={`Run ${counted(selected.length, 'experiment')} again?`}
            verb="Submit"
            act={() => each(selected, ({ id }) => api.post('/v1/experiments/{id}/rerun', { path: { id } }))}
          >
            <p>New experiments with the same specs join the queue. The selected ones stay as they are.</p>
          </Confirm>
          <Confirm
            danger
            label="Cancel"
            title={`Cancel ${counted(open.length, 'experiment')}?`}
            verb="Cancel them"
            disabled={open.length === 0}
            act={() => each(open, ({ id }) => api.post('/v1/experiments/{id}/cancel', { path: { id } }))}
          >
            <p>
              Queued ones never start; the processes of running ones are stopped. Work since their last
              checkpoints is lost.
            </p>
          </Confirm>
        </>
      )}
      <button type="button" class="link" onClick={onClear}>
        Clear the selection
      </button>
    </div>
  );
}
