import { useState } from 'preact/hooks';
import { api } from '../../app/api.ts';
import { may } from '../../app/session.ts';
import type { Detail } from '../../models/experiments.ts';
import { inert } from '../../models/words.ts';
import { Confirm } from '../../parts/dialog.tsx';

/** The note and the tags of an experiment, which people with the scope submit may change. */
export function Notes({ experiment, onChange }: { experiment: Detail; onChange: () => void }) {
  const { id, note, tags } = experiment;
  const [text, setText] = useState(note);
  const [words, setWords] = useState(tags.join(', '));
  const save = () => {
    const split = words.split(',').map((word) => word.trim());
    const body = { note: text, tags: [...new Set(split)].filter((word) => word !== '') };
    return api.patch('/v1/experiments/{id}', { path: { id }, body }).then(onChange);
  };
  return (
    <p class="notes line-of-parts">
      {tags.map((tag) => (
        <a key={tag} class="tag" href={`/experiments?tag=${encodeURIComponent(tag)}`}>
          {tag}
        </a>
      ))}
      {note !== '' && <span>{inert(note)}</span>}
      {may.value('submit') && (
        <Confirm label="Note and tags" title="Note and tags" verb="Save" act={save}>
          <div class="fields">
            <label>
              Note
              <textarea
                rows={4}
                maxLength={2000}
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            </label>
            <label>
              Tags, separated by commas
              <input value={words} onInput={(event) => setWords(event.currentTarget.value)} />
            </label>
          </div>
        </Confirm>
      )}
    </p>
  );
}
