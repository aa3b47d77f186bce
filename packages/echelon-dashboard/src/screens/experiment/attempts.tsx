import { api } from '../../app/api.ts';
import { useReload, useResource } from '../../app/resource.ts';
import { count, duration, inert } from '../../models/words.ts';
import { Clock } from '../../parts/marks.tsx';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Await, Empty } from '../../parts/states.tsx';
import type { Detail } from '../experiment.tsx';

/** The executions of an experiment: where each ran, and how it ended. */
export function Attempts({ experiment, tick }: { experiment: Detail; tick: number }) {
  const path = { id: experiment.id };
  const list = useResource((signal) => api.get('/v1/experiments/{id}/attempts', { path, signal }), [path.id]);
  useReload(list, tick);
  return (
    <Await of={list}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No attempt yet">
            <p>{experiment.waitReason ?? 'The experiment was not started.'}</p>
          </Empty>
        ) : (
          <section class="card scroll">
            <PlainTable
              columns={['Attempt', 'Cluster', 'Claimed', 'Launch confirmed after', 'Events', 'End']}
              numbers={['Events']}
            >
              {items.map(({ attempt, cluster, claimedAt, confirmedAt, lastSequence, ended }) => (
                <tr key={attempt}>
                  <td>{attempt}</td>
                  <td>{cluster}</td>
                  <td>
                    <Clock at={claimedAt} />
                  </td>
                  <td>{confirmedAt === null ? 'not yet' : duration(confirmedAt - claimedAt)}</td>
                  <td class="number">{count(lastSequence)}</td>
                  <td>{ended === null ? 'not ended' : endOf(ended)}</td>
                </tr>
              ))}
            </PlainTable>
          </section>
        )
      }
    </Await>
  );
}

function endOf(ended: Record<string, unknown>): string {
  return [ended.cause, ended.message]
    .filter((one) => typeof one === 'string' && one !== '')
    .map((one) => inert(String(one)))
    .join(': ');
}
