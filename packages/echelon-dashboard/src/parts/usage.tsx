import { useGet } from '../app/resource.ts';
import { Card } from './card.tsx';
import { DataTable } from './data-table.tsx';
import { Await } from './states.tsx';

/** GPU hours and cost of the last 30 days. */
export function UsageCard() {
  const usage = useGet('/v1/usage', {});
  return (
    <Card title="GPU hours of 30 days" note="from allocation to release; echelon usage --help">
      <Await of={usage}>
        {({ items, gpuHours, cost }) =>
          items.length === 0 ? (
            <p class="muted card-body">No attempt has run.</p>
          ) : (
            <>
              <DataTable
                columns={[
                  { title: 'Project', cell: ({ project }) => project },
                  { title: 'Submitted by', cell: ({ owner }) => owner || '–', class: 'wide' },
                  { title: 'Cluster', cell: ({ cluster }) => cluster, class: 'wide' },
                  { title: 'GPU type', cell: ({ gpuType }) => gpuType || '–' },
                  { title: 'GPU hours', cell: (item) => item.gpuHours.toFixed(1), class: 'number' },
                  { title: 'Cost', cell: (item) => money(item.cost), class: 'number' },
                ]}
                rows={items}
                keyOf={({ project, owner, cluster, gpuType }) =>
                  [project, owner, cluster, gpuType].join('\n')
                }
              />
              <p class="muted card-body">
                In all {gpuHours.toFixed(1)} GPU hours{cost === null ? '' : `, cost ${money(cost)}`}.
              </p>
            </>
          )
        }
      </Await>
    </Card>
  );
}

function money(cost: number | null): string {
  return cost === null ? '–' : cost.toFixed(2);
}
