import { useMemo, useRef } from 'preact/hooks';
import { counted, nounOf } from '../../../core/plural.ts';
import { api } from '../../app/api.ts';
import { useLoad, useReload } from '../../app/load.ts';
import { place, setQuery } from '../../app/router.ts';
import { count, inert } from '../../models/words.ts';
import { Await, Empty } from '../../parts/states.tsx';
import type { Detail } from '../experiment.tsx';

const WINDOW = 1000;

/** The driver's output, line by line: the end of it, from a line on, or the lines that contain a text. */
export function Logs({ experiment, tick }: { experiment: Detail; tick: number }) {
  const { query } = place.value;
  const [line, contains] = [Number(query.get('line')) || undefined, query.get('contains') || undefined];
  const path = { id: experiment.id };
  const asked = {
    ...(line === undefined || contains ? {} : { since: Math.max(1, line - 10) }),
    ...(line === undefined && !contains ? { tail: WINDOW } : {}),
    contains,
  };
  const page = useLoad(
    (signal) => api.get('/v1/experiments/{id}/logs', { path, query: asked, signal }),
    [path.id, asked],
  );
  useReload(page, line === undefined ? tick : 0);
  return (
    <>
      <div class="toolbar" role="search">
        <input
          type="search"
          data-filter
          aria-label="Lines that contain"
          placeholder="Lines that contain…   /"
          value={contains ?? ''}
          onChange={(event) => setQuery({ contains: event.currentTarget.value, line: undefined })}
        />
        <input
          type="number"
          class="short"
          min={1}
          aria-label="Go to line"
          placeholder="Line"
          value={line ?? ''}
          onChange={(event) => setQuery({ line: event.currentTarget.value, contains: undefined })}
        />
        {(line !== undefined || contains !== undefined) && (
          <button type="button" onClick={() => setQuery({ line: undefined, contains: undefined })}>
            Go to the end
          </button>
        )}
        <a class="end" href={`/v1/experiments/${experiment.id}/logs/download`} download>
          Download all lines
        </a>
      </div>
      <Await of={page}>{(found) => <Lines {...found} line={line} contains={contains} />}</Await>
    </>
  );
}

interface Line {
  line: number | null;
  id: string;
  source: 'stdout' | 'stderr' | 'gap';
  text: string;
}

function Lines(props: {
  lines: Line[];
  more: boolean;
  line: number | undefined;
  contains: string | undefined;
}) {
  const { lines, more, line, contains } = props;
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef('');
  // The end of the output is shown first; a reader who has scrolled up stays there.
  useMemo(() => {
    const name = `${line} ${contains}`;
    const element = box.current;
    const atEnd = !element || element.scrollHeight - element.scrollTop - element.clientHeight < 40;
    if (shown.current === name && !atEnd) return;
    shown.current = name;
    requestAnimationFrame(() => {
      const target = box.current?.querySelector('.asked') ?? box.current?.lastElementChild;
      target?.scrollIntoView({ block: line === undefined ? 'end' : 'center' });
    });
  }, [lines, line, contains]);
  if (lines.length === 0) {
    return contains ? (
      <Empty title="No line contains this text" />
    ) : (
      <Empty title="No output">
        <p>The driver has written no line.</p>
      </Empty>
    );
  }
  const first = lines[0]!.line;
  return (
    <section class="card log" aria-label="Lines">
      <div class="card-head">
        <span class="muted">
          {contains !== undefined
            ? `${counted(lines.length, 'line')} ${nounOf(lines.length, 'contains', 'contain')} the text${more ? ', and there are more' : ''}`
            : `lines ${count(first ?? 1)} to ${count(lines.at(-1)!.line ?? lines.length)}${more ? ', and there are later ones' : ''}`}
        </span>
        {first !== null && first > 1 && contains === undefined && (
          <button
            type="button"
            class="link"
            onClick={() => setQuery({ line: String(Math.max(1, first - 900)) })}
          >
            Earlier lines
          </button>
        )}
        {more && contains === undefined && (
          <button type="button" class="link" onClick={() => setQuery({ line: String(lines.at(-1)!.line) })}>
            Later lines
          </button>
        )}
      </div>
      <div class="lines" ref={box} tabIndex={0} role="log" aria-live="off">
        {lines.map((one, at) => (
          <p
            key={`${one.id}/${at}`}
            class={`${one.source} ${one.line !== null && one.line === line ? 'asked' : ''}`}
          >
            {one.line === null ? (
              <span class="line">·</span>
            ) : (
              <a class="line" href={`?tab=logs&line=${one.line}`} aria-label={`Line ${one.line}`}>
                {one.line}
              </a>
            )}
            <span class="text">{one.source === 'gap' ? `— ${inert(one.text)} —` : inert(one.text)}</span>
          </p>
        ))}
      </div>
    </section>
  );
}
