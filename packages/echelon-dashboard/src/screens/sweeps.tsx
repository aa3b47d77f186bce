import { counted } from 'echelon-verify/text/plural';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { useResource } from '../app/resource.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { Ago, State } from '../parts/marks.tsx';
import { PlainTable } from '../parts/plain-table.tsx';
import { Await, Empty } from '../parts/states.tsx';

const PAGE = 200;

/** The sweeps, newest first. */
export function Sweeps() {
  const list = useResource((signal) => api.get('/v1/sweeps', { query: { limit: PAGE }, signal }), ['sweeps']);
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
            <section class="card scroll">
              <div class="card-head">
                <span class="muted">
                  {counted(items.length, 'sweep')}
                  {next !== null && ', and there are older ones'}
                </span>
              </div>
              <PlainTable columns={['Sweep', 'State', 'Children', 'Succeeded', 'Failed', 'Created']}>
                {items.map((sweep) => (
                  <tr key={sweep.id}>
                    <td>
                      <a href={`/sweeps/${sweep.id}`}>{inert(sweep.name)}</a>
                      <div class="muted mono">{sweep.id}</div>
                    </td>
                    <td>
                      <State state={sweep.state} />
                    </td>
                    <td>{count(sweep.count)}</td>
                    <td>{count(sweep.counts.succeeded)}</td>
                    <td>{count(sweep.counts.failed)}</td>
                    <td class="muted">
                      <Ago at={sweep.createdAt} />
                    </td>
                  </tr>
                ))}
              </PlainTable>
            </section>
          )
        }
      </Await>
    </>
  );
}
