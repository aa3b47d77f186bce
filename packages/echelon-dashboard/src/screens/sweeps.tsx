import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet } from '../app/resource.ts';
import { place, setQuery } from '../app/router.ts';
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
  const sort = place.value.query.get('sort') ?? undefined;
  const list = useGet('/v1/sweeps', { query: { limit: PAGE, best: true, sort } });
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
              title={sort === undefined ? 'Newest first' : 'Sorted'}
              note={`${counted(items.length, 'sweep')}${next === null ? '' : ', and there are more'}`}
            >
              <DataTable
                rows={items}
                fold="minmax(0, 1fr) auto"
                keyOf={({ id }) => id}
                sort={{ by: sort, choose: (to) => setQuery({ sort: to }) }}
                columns={[
                  {
                    title: 'Sweep',
                    sort: 'name',
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
                  },
                  {
                    title: 'Progress',
                    class: 'line',
                    cell: (sweep) => <Ended sweep={sweep} />,
                    sort: 'progress',
                  },
                  {
                    title: 'Failed',
                    class: 'number wide',
                    cell: ({ counts }) => count(counts.failed),
                    sort: 'failed',
                  },
                  {
                    title: 'Best mean',
                    class: 'line number-first',
                    cell: (sweep) => <Best of={sweep} />,
                    sort: 'best',
                  },
                  {
                    title: 'Created',
                    class: 'muted number wide',
                    cell: ({ createdAt }) => <Ago at={createdAt} />,
                    sort: 'created',
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

/** The combination with the best mean of the metric by which the sweep is compared. */
function Best({ of: { best, metric } }: { of: Listed }) {
  if (!best) return <Muted>–</Muted>;
  return (
    <>
      {figure(best.mean)} <Muted>{inert(metric.name)}</Muted>
      {best.combinations > 1 && <div class="muted">{inert(namesOf([best.values])[0]!)}</div>}
    </>
  );
}
