import type { Answer } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet } from '../app/resource.ts';
import { namesOf } from '../models/combinations.ts';
import { command } from '../models/commands.ts';
import { count, figure, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Muted, State } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

const PAGE = 200;

/** The sweeps, newest first. */
export function Sweeps() {
  const list = useGet('/v1/sweeps', { query: { limit: PAGE } });
  useFeed(useThrottled(list.reload, 2000));
  return (
    <>
      <Head
        title="Sweeps"
        command={command('sweeps')}
        actions={<a href="/comparisons">Planned comparisons</a>}
      />
      <Await of={list}>
        {({ items, next }) =>
          items.length === 0 ? (
            <Empty title="No sweep yet">
              <p>
                A sweep runs one spec with many values: <code>echelon sweeps submit FILE</code>.
              </p>
            </Empty>
          ) : (
            <Card
              title="Newest first"
              note={`${counted(items.length, 'sweep')}${next === null ? '' : ', and there are older ones'}`}
            >
              <DataTable
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Sweep',
                    value: ({ name }) => name,
                    cell: ({ id, name }) => (
                      <>
                        <a href={`/sweeps/${id}`}>{inert(name)}</a>
                        <div class="muted mono">{id}</div>
                      </>
                    ),
                  },
                  {
                    title: 'State',
                    cell: ({ state }) => <State state={state} />,
                    value: ({ state }) => state,
                  },
                  {
                    title: 'Progress',
                    cell: (sweep) => <Ended sweep={sweep} />,
                    value: (sweep) => endedOf(sweep) / sweep.count,
                  },
                  {
                    title: 'Failed',
                    class: 'number wide',
                    cell: ({ counts }) => count(counts.failed),
                    value: ({ counts }) => counts.failed,
                  },
                  {
                    title: 'Best mean',
                    class: 'wide',
                    cell: ({ id, counts }) =>
                      counts.succeeded > 0 && <Best sweep={id} ended={counts.succeeded} />,
                  },
                  {
                    title: 'Created',
                    class: 'muted number',
                    cell: ({ createdAt }) => <Ago at={createdAt} />,
                    value: ({ createdAt }) => createdAt,
                  },
                ]}
              />
            </Card>
          )
        }
      </Await>
    </>
  );
}

type Listed = Answer<'get', '/v1/sweeps'>['items'][number];

const endedOf = ({ counts }: Listed) => counts.succeeded + counts.failed + counts.cancelled;

function Ended({ sweep }: { sweep: Listed }) {
  const ended = endedOf(sweep);
  return (
    <>
      {count(ended)} of {count(sweep.count)} ended
      {sweep.counts.running > 0 && `, ${count(sweep.counts.running)} running`}
      {ended < sweep.count && <progress value={ended} max={sweep.count} aria-label="Progress" />}
    </>
  );
}

/** The combination with the highest mean of the metric by which sweeps are compared. */
function Best({ sweep, ended }: { sweep: string; ended: number }) {
  const { data } = useGet(
    '/v1/sweeps/{id}/comparison',
    { path: { id: sweep }, query: { limit: PAGE } },
    ended,
  );
  const [metric = ''] = data?.metrics ?? [];
  const items = data?.items ?? [];
  const means = items.map(({ metrics }) => metrics[metric]?.mean ?? Number.NEGATIVE_INFINITY);
  const best = Math.max(...means);
  if (!Number.isFinite(best)) return <Muted>–</Muted>;
  return (
    <>
      {figure(best)} <Muted>{metric}</Muted>
      <div class="muted">{inert(namesOf(items.map(({ values }) => values))[means.indexOf(best)]!)}</div>
    </>
  );
}
