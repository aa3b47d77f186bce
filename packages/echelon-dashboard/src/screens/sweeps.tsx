import { counted } from 'echelon-verify/text/plural';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet } from '../app/resource.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, State } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

const PAGE = 200;

/** The sweeps, newest first. */
export function Sweeps() {
  const list = useGet('/v1/sweeps', { query: { limit: PAGE } });
  useFeed(useThrottled(list.reload, 2000));
  return (
    <>
      <Head title="Sweeps" command={command('sweeps')} />
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
                    cell: ({ id, name }) => (
                      <>
                        <a href={`/sweeps/${id}`}>{inert(name)}</a>
                        <div class="muted mono">{id}</div>
                      </>
                    ),
                  },
                  { title: 'State', cell: ({ state }) => <State state={state} /> },
                  { title: 'Children', cell: (sweep) => count(sweep.count) },
                  { title: 'Succeeded', cell: ({ counts }) => count(counts.succeeded) },
                  { title: 'Failed', cell: ({ counts }) => count(counts.failed) },
                  { title: 'Created', class: 'muted', cell: ({ createdAt }) => <Ago at={createdAt} /> },
                ]}
              />
            </Card>
          )
        }
      </Await>
    </>
  );
}
