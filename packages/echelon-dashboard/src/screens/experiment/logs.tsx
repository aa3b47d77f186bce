import { nounOf } from 'command-kit/plural';
import { countLogLines } from 'echelon-client/count-log-lines';
import { useReducer, useRef, useState } from 'preact/hooks';
import { api, type Failure, failureOf } from '../../app/api.ts';
import { useResource } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import type { Detail } from '../../models/experiments.ts';
import { createLineCache, errorLineOf, type LineCache } from '../../models/log-lines.ts';
import { count } from '../../models/words.ts';
import { Choice, Search } from '../../parts/filters.tsx';
import { Await, Empty, Failed, Loading } from '../../parts/states.tsx';
import { type Line, Reader } from './reader.tsx';

/** Lines of the end of the log that are loaded first. */
const TAIL = 300;

interface Filter {
  contains?: string | undefined;
  attempt?: number | undefined;
  source?: 'stdout' | 'stderr' | undefined;
}

/** The driver's output by line number, however long it is, or the lines that fit a filter. */
export function Logs({ experiment, tick }: { experiment: Detail; tick: number }) {
  const { query } = place.value;
  const { id, attempt: attempts, state } = experiment;
  const filter: Filter = {
    contains: query.get('contains') || undefined,
    attempt: Number(query.get('attempt')) || undefined,
    source: (['stdout', 'stderr'] as const).find((one) => one === query.get('source')),
  };
  const isFiltered = Object.values(filter).some((one) => one !== undefined);
  const asked = query.get('line') ?? (state === 'failed' ? 'error' : 'end');
  const [isWrapped, setWrapped] = useState(false);
  const goTo = (line: string | undefined) =>
    setQuery({ line, contains: undefined, attempt: undefined, source: undefined });
  return (
    <>
      <div class="toolbar" role="search">
        <Search
          data-filter
          label="Lines that contain"
          hint="Lines that contain…   /"
          name="contains"
          value={filter.contains}
        />
        {attempts > 1 && (
          <Choice
            label="Attempt"
            name="attempt"
            value={query.get('attempt') ?? ''}
            none="all"
            options={Array.from({ length: attempts }, (_, at) => String(at + 1))}
          />
        )}
        <Choice
          label="Stream"
          name="source"
          value={filter.source}
          none="both"
          options={['stdout', 'stderr']}
        />
        <input
          type="number"
          class="short"
          min={1}
          aria-label="Go to line"
          placeholder="Line"
          value={Number(asked) || ''}
          onChange={(event) => goTo(event.currentTarget.value)}
        />
        <button type="button" aria-pressed={!isFiltered && asked === 'error'} onClick={() => goTo('error')}>
          Last error
        </button>
        <button type="button" aria-pressed={!isFiltered && asked === 'end'} onClick={() => goTo('end')}>
          Follow the end
        </button>
        <button type="button" aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
          Wrap
        </button>
        <a class="end" href={`/v1/experiments/${id}/logs/download`} download>
          Download all lines
        </a>
      </div>
      {isFiltered ? (
        <Found key={JSON.stringify(filter)} {...{ id, filter, isWrapped }} />
      ) : (
        <All {...{ id, asked, tick, isWrapped }} />
      )}
    </>
  );
}

const linesOf = (id: string, query: object, signal?: AbortSignal) =>
  api.get('/v1/experiments/{id}/logs', { path: { id }, query, signal });

/** Every line; those in view are loaded by their numbers. */
function All({
  id,
  asked,
  tick,
  isWrapped,
}: {
  id: string;
  asked: string;
  tick: number;
  isWrapped: boolean;
}) {
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
      {({ lines, progress }) => {
        put(lines);
        const total = lines.at(-1)?.line ?? 0;
        const line = asked === 'error' ? errorLineOf(lines) : Number(asked) || undefined;
        if (total === 0 && progress.length === 0) {
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
            isWrapped={isWrapped}
            states={progress}
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

/** The lines that fit a filter, and how many there are in the whole log. */
function Found({ id, filter, isWrapped }: { id: string; filter: Filter; isWrapped: boolean }) {
  const [found, setFound] = useState<FoundLines>({ lines: [], after: undefined, more: true });
  const [failure, setFailure] = useState<Failure>();
  const [sum, setSum] = useState({ matching: 0, more: true });
  useResource(
    async (signal) => {
      for await (const sum of countLogLines(api, id, { ...filter, signal })) setSum(sum);
    },
    [id, filter],
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
        const page = await linesOf(id, { ...filter, after });
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
  useResource(next, [id, filter]);
  const { lines, more } = found;
  if (failure !== undefined) return <Failed failure={failure} />;
  if (lines.length === 0)
    return more ? <Loading what="Searching" /> : <Empty title="No line fits this filter" />;
  const { matching } = sum;
  const said = `${count(matching)} ${nounOf(matching, 'line')} ${nounOf(matching, 'fits', 'fit')} the filter`;
  return (
    <Reader
      total={lines.length}
      isWrapped={isWrapped}
      lineAt={(at) => lines[at]}
      want={(_first, last) => void (last >= lines.length - 1 && next())}
      note={`${said}${sum.more ? ' so far; counting…' : ''}${more ? `; the first ${count(lines.length)} are loaded, more follow as you scroll` : ''}`}
    />
  );
}
