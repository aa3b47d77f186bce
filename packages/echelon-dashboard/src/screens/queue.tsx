import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet, usePolling } from '../app/resource.ts';
import { may } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { count, inert, withNames } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Clock } from '../parts/marks.tsx';
import { Notices } from '../parts/notices.tsx';
import { Await, Empty } from '../parts/states.tsx';
import { QueueActions } from './queue/actions.tsx';
import { Gantt } from './queue/gantt.tsx';
import { PriorityButton } from './queue/priority.tsx';

type Answered = Answer<'get', '/v1/queues'>;
type Item = Answered['items'][number];

const SHOWN = 200;

/** Running experiments with their expected ends, and queued ones with their estimated starts and wait reasons. */
export function Queue() {
  const queue = useGet('/v1/queues', { query: { limit: SHOWN } });
  const held = useGet('/v1/allocations', {});
  const reload = () => {
    queue.reload();
    held.reload();
  };
  const named = [...(queue.data?.items ?? []), ...(held.data?.items ?? [])];
  const names = new Map(named.map(({ experiment, name }) => [experiment, name]));
  const refresh = useThrottled(reload, 1000);
  useFeed(refresh);
  usePolling(refresh, 5000, (queue.data?.length ?? 0) + (held.data?.total ?? 0) > 0);
  return (
    <>
      <Head
        title="Queue"
        command={command('queues')}
        actions={queue.data && <QueueActions queue={queue.data} onChange={reload} />}
      />
      {/* Both at once, so that nothing is pushed down by a later part. */}
      <Await of={{ ...queue, data: held.loading ? undefined : queue.data }}>
        {(answer) => (
          <>
            <Notices queue={answer} />
            <Await of={held}>
              {(allocations) =>
                answer.clusters.length > 0 && (
                  <Gantt queue={answer} {...{ allocations, names, onChange: reload }} />
                )
              }
            </Await>
            {answer.items.length === 0 ? (
              <Empty title="Nothing is queued">
                <p>
                  {counted(answer.counts.running + answer.counts.launching, 'experiment')} running. An
                  experiment that cannot start at once waits here, with its position, estimated start and the
                  reason.
                </p>
                <p>
                  <a class="button" href="/submit">
                    Submit an experiment
                  </a>
                </p>
              </Empty>
            ) : (
              <Waiting queue={answer} names={names} onChange={reload} />
            )}
          </>
        )}
      </Await>
    </>
  );
}

interface WaitingProps {
  queue: Answered;
  names: ReadonlyMap<string, string>;
  onChange: () => void;
}

function Waiting({ queue, names, onChange }: WaitingProps) {
  const named = (text: string) => inert(withNames(text, names));
  return (
    <Card
      title="Queued experiments"
      note={`${count(queue.items.length)} of ${count(queue.length)}, in queue order`}
    >
      <DataTable
        class="queue"
        fold="30px minmax(0, 1fr) auto"
        rows={queue.items}
        keyOf={({ experiment }) => experiment}
        columns={[
          { title: '#', class: 'number', cell: ({ position }) => position },
          { title: 'Experiment', class: 'named', cell: nameOf },
          { title: 'GPUs', class: 'number wide', cell: ({ gpus }) => gpus },
          {
            title: 'Priority',
            class: 'number',
            cell: (item) =>
              may.value('submit') ? <PriorityButton item={item} onChange={onChange} /> : item.priority,
          },
          { title: 'Estimated start', class: 'line', cell: (item) => <Estimate {...{ item, named }} /> },
          {
            title: 'Why not now',
            class: 'wrap line',
            cell: ({ waitReason }) => named(waitReason ?? 'not yet considered'),
          },
          {
            title: 'Submitted',
            class: 'muted number wide',
            cell: ({ submittedAt }) => <Ago at={submittedAt} />,
          },
        ]}
      />
    </Card>
  );
}

const nameOf = ({ experiment, name, project }: Item) => (
  <>
    <a href={`/experiments/${experiment}`}>{inert(name)}</a>
    <div class="muted">{project}</div>
  </>
);

function Estimate({ item, named }: { item: Item; named: (text: string) => string }) {
  const { estimate, noEstimate, waitReason } = item;
  if (estimate === null) {
    const why = noEstimate !== null && noEstimate !== waitReason ? `: ${named(noEstimate)}` : '';
    return <span class="muted">unknown{why}</span>;
  }
  return (
    <>
      <Clock at={estimate.startAt} />{' '}
      <span class="muted">
        (<Clock at={estimate.earliest} /> to <Clock at={estimate.latest} />)
      </span>
    </>
  );
}
