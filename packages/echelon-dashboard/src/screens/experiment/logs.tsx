import { countLogLines } from 'echelon-client/count-log-lines';
import { nounOf } from 'echelon-verify/text/plural';
import { useReducer, useRef, useState } from 'preact/hooks';
import { api, type Failure, failureOf } from '../../app/api.ts';
import { useResource } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import type { Detail } from '../../models/experiments.ts';
import { createLineCache, type LineCache } from '../../models/log-lines.ts';
import { count } from '../../models/words.ts';
import { Await, Empty, Failed, Loading } from '../../parts/states.tsx';
import { type Line, Reader } from './reader.tsx';

/** Lines of the end of the log that are loaded first. */
const TAIL = 300;

/** The driver's output by line number, however long it is, or the lines that contain a text. */
export function Logs({ experiment, tick }: { experiment: Detail; tick: number }) {
  const { query } = place.value;
  const contains = query.get('contains') || undefined;
  const line = Number(query.get('line')) || undefined;
  const { id } = experiment;
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
        <a class="end" href={`/v1/experiments/${id}/logs/download`} download>
          Download all lines
        </a>
      </div>
      {contains === undefined ? (
        <All {...{ id, line, tick }} />
      ) : (
        <Found key={contains} {...{ id, contains }} />
      )}
    </>
  );
}

const linesOf = (id: string, query: object, signal?: AbortSignal) =>
  api.get('/v1/experiments/{id}/logs', { path: { id }, query, signal });

/** Every line; those in view are loaded by their numbers. */
function All({ id, line, tick }: { id: string; line: number | undefined; tick: number }) {
  const end = useResource((signal) => linesOf(id, { tail: TAIL }, signal), [id], tick);
  const [failure, setFailure] = useState<Failure>();
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const cache = useRef<LineCache<Line>>(undefined);
  cache.current ??= createLineCache(
    async (since) => (await linesOf(id, { since })).lines,
    () => redraw(0),
  );
  const { get, put, want } = cache.current;
  const load = (first: number, last: number) =>
    want(first + 1, last + 1).then(
      () => setFailure(undefined),
      (error: unknown) => setFailure(failureOf(error)),
    );
  return (
    <Await of={end}>
      {({ lines }) => {
        put(lines);
        const total = lines.at(-1)?.line ?? 0;
        if (total === 0) {
          return (
            <Empty title="No output">
              <p>The driver has written no line.</p>
            </Empty>
          );
        }
        return (
          <Reader
            total={total}
            lineAt={(at) => get(at + 1)}
            want={load}
            asked={line === undefined ? undefined : Math.min(line, total) - 1}
            isFollowing={line === undefined}
            note={failure ? `Not loaded: ${failure.message}` : `${count(total)} ${nounOf(total, 'line')}`}
          />
        );
      }}
    </Await>
  );
}

interface FoundLines {
  lines: Line[];
  after: string | undefined;
  more: boolean;
}

/** The lines that contain a text, and how many there are in the whole log. */
function Found({ id, contains }: { id: string; contains: string }) {
  const [found, setFound] = useState<FoundLines>({ lines: [], after: undefined, more: true });
  const [failure, setFailure] = useState<Failure>();
  const [sum, setSum] = useState({ matching: 0, more: true });
  useResource(
    async (signal) => {
      for await (const sum of countLogLines(api, id, { contains, signal })) setSum(sum);
    },
    [id, contains],
  );
  const busy = useRef(false);
  const next = async () => {
    if (busy.current || !found.more) return;
    busy.current = true;
    try {
      let { after, more }: Omit<FoundLines, 'lines'> = { ...found };
      const lines: Line[] = [];
      // A page without a match is not the end of the log.
      while (more && lines.length === 0) {
        const page = await linesOf(id, { contains, after });
        lines.push(...page.lines.filter(({ source }) => source !== 'gap'));
        [after, more] = [page.after ?? undefined, page.more];
      }
      setFound({ lines: [...found.lines, ...lines], after, more });
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      busy.current = false;
    }
  };
  useResource(next, [id, contains]);
  const { lines, more } = found;
  if (failure !== undefined) return <Failed failure={failure} />;
  if (lines.length === 0)
    return more ? <Loading what="Searching" /> : <Empty title="No line contains this text" />;
  const { matching } = sum;
  const said = `${count(matching)} ${nounOf(matching, 'line')} ${nounOf(matching, 'contains', 'contain')} the text`;
  return (
    <Reader
      total={lines.length}
      lineAt={(at) => lines[at]}
      want={(_first, last) => void (last >= lines.length - 1 && next())}
      note={`${said}${sum.more ? ' so far; counting…' : ''}${more ? `; the first ${count(lines.length)} are loaded, more follow as you scroll` : ''}`}
    />
  );
}
