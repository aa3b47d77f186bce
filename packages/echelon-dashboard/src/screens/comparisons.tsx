import { counted } from 'command-kit/plural';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet } from '../app/resource.ts';
import { command } from '../models/commands.ts';
import { inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, State } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

const PAGE = 200;

/** The planned comparisons, newest first. */
export function Comparisons() {
  const list = useGet('/v1/comparisons', { query: { limit: PAGE } });
  useFeed(useThrottled(list.reload, 2000));
  return (
    <>
      <Head title="Comparisons" path={[['/sweeps', 'Sweeps']]} command={command('comparison')} />
      <Await of={list}>
        {({ items, next }) =>
          items.length === 0 ? (
            <Empty title="No comparison yet">
              <p>
                A comparison has a plan that is fixed before its runs:{' '}
                <code>echelon comparison submit FILE</code>.
              </p>
            </Empty>
          ) : (
            <Card
              title="Newest first"
              note={`${counted(items.length, 'comparison')}${next === null ? '' : ', and there are older ones'}`}
            >
              <DataTable
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Comparison',
                    value: ({ plan }) => plan.name,
                    cell: ({ id, plan }) => (
                      <>
                        <a href={`/comparisons/${id}`}>{inert(plan.name)}</a>
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
                    title: 'Methods',
                    class: 'wrap wide',
                    cell: ({ plan }) => plan.methods.map(({ name }) => inert(name)).join(', '),
                  },
                  {
                    title: 'Seeds',
                    class: 'number wide',
                    cell: ({ plan }) => plan.seeds.length,
                    value: ({ plan }) => plan.seeds.length,
                  },
                  {
                    title: 'Planned',
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
