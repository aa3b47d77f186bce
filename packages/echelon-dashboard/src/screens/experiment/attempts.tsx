import { useGet } from '../../app/resource.ts';
import type { Detail } from '../../models/experiments.ts';
import { count, duration, inert } from '../../models/words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Clock } from '../../parts/marks.tsx';
import { Await, Empty } from '../../parts/states.tsx';

/** The executions of an experiment: where each ran, and how it ended. */
export function Attempts({ experiment, tick }: { experiment: Detail; tick: number }) {
  const path = { id: experiment.id };
  const list = useGet('/v1/experiments/{id}/attempts', { path }, tick);
  return (
    <Await of={list}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No attempt yet">
            <p>{experiment.waitReason ?? 'The experiment was not started.'}</p>
          </Empty>
        ) : (
          <div class="card">
            <DataTable
              rows={items}
              keyOf={({ attempt }) => attempt}
              columns={[
                { title: 'Attempt', cell: ({ attempt }) => attempt },
                { title: 'Cluster', cell: ({ cluster }) => cluster },
                { title: 'Claimed', cell: ({ claimedAt }) => <Clock at={claimedAt} /> },
                {
                  title: 'Launch confirmed after',
                  cell: ({ claimedAt, confirmedAt: at }) =>
                    at === null ? 'not yet' : duration(at - claimedAt),
                },
                { title: 'Events', class: 'number', cell: ({ lastSequence }) => count(lastSequence) },
                { title: 'End', cell: ({ ended }) => (ended === null ? 'not ended' : endOf(ended)) },
              ]}
            />
          </div>
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
