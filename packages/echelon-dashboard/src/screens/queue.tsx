import type { Answer } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { usePolling, useResource } from '../app/resource.ts';
import { may } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { withNames } from '../models/names.ts';
import { count, inert } from '../models/words.ts';
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
  const queue = useResource(
    (signal) => api.get('/v1/queues', { query: { limit: SHOWN }, signal }),
    ['queue'],
  );
  const held = useResource((signal) => api.get('/v1/allocations', { signal }), ['allocations']);
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
      <Await of={queue}>
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
                <p>{counted(answer.counts.running + answer.counts.launching, 'experiment')} running.</p>
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
  return (
    <section class="card scroll" aria-label="Queued experiments">
      <div class="card-head">
        <h2>Queued experiments</h2>
        <span class="muted">
          {count(queue.items.length)} of {count(queue.length)}, in queue order
        </span>
      </div>
      <table class="plain queue">
        <thead>
          <tr>
            <th scope="col" class="number">
              #
            </th>
            <th scope="col">Experiment</th>
            <th scope="col" class="number">
              GPUs
            </th>
            <th scope="col" class="number">
              Priority
            </th>
            <th scope="col">Estimated start</th>
            <th scope="col">Why not now</th>
            <th scope="col">Submitted</th>
          </tr>
        </thead>
        <tbody>
          {queue.items.map((item) => (
            <Row key={item.experiment} {...{ item, names, onChange }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps extends Omit<WaitingProps, 'queue'> {
  item: Item;
}

function Row({ item, names, onChange }: RowProps) {
  const named = (text: string) => inert(withNames(text, names));
  return (
    <tr>
      <td class="number">{item.position}</td>
      <td>
        <a href={`/experiments/${item.experiment}`}>{inert(item.name)}</a>
        <div class="muted">{item.project}</div>
      </td>
      <td class="number wide">{item.gpus}</td>
      <td class="number">
        {may.value('submit') ? <PriorityButton item={item} onChange={onChange} /> : item.priority}
      </td>
      <td class="estimate">
        <Estimate {...{ item, named }} />
      </td>
      <td class="wrap">{named(item.waitReason ?? 'not yet considered')}</td>
      <td class="muted wide">
        <Ago at={item.submittedAt} />
      </td>
    </tr>
  );
}

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
