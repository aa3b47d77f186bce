import type { BatchRows } from 'echelon-client/calls';
import { useState } from 'preact/hooks';
import { isDigestsOnly } from '../../models/trajectory.ts';
import { count, inertText } from '../../models/words.ts';

/** Characters that are shown before the rest is asked for. */
const SHOWN = 800;

/** A text of a training, such as an observation: a long one is cut until its rest is asked for. */
export function LongText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  if (text.length <= SHOWN) return <>{inertText(text)}</>;
  return (
    <>
      {inertText(all ? text : `${text.slice(0, SHOWN)}…`)}{' '}
      <button type="button" class="link" onClick={() => setAll(!all)}>
        {all ? 'Show less' : `Show all ${count(text.length)} characters`}
      </button>
    </>
  );
}

/** Says which texts the batch lacks, and how the next experiment records them. */
export function TextsNote({ rows }: { rows: BatchRows }) {
  const isDigests = isDigestsOnly(rows);
  if (!isDigests && rows.actions !== null) return null;
  return (
    <p class="banner">
      {isDigests ? 'Digests only: the batch holds no texts.' : 'The batch holds no texts of actions.'} An
      experiment with <code>observations: texts</code> records observations and actions as texts.
    </p>
  );
}
