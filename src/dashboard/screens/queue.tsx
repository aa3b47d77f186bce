import type { Answer } from '../../client/calls.ts';
import { counted, nounOf } from '../../core/plural.ts';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { useLoad, usePolling } from '../app/load.ts';
import { may } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { axisEnd, spanOf } from '../models/timeline.ts';
import { count, duration, inert } from '../models/words.ts';
import { Confirm } from '../parts/dialog.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Clock } from '../parts/marks.tsx';
import { Notices } from '../parts/notices.tsx';
import { Await, Empty } from '../parts/states.tsx';

type Answered = Answer<'get', '/v1/queues'>;
type Item = Answered['items'][number];

const SHOWN = 200;

/** The queued experiments: when each starts, and why not now. */
export function Queue() {
  const queue = useLoad((signal) => api.get('/v1/queues', { query: { limit: SHOWN }, signal }), ['queue']);
  const refresh = useThrottled(queue.reload, 1000);
  useFeed(refresh);
  usePolling(refresh, 5000, (queue.data?.length ?? 0) > 0);
  return (
    <>
      <Head
        title="Queue"
        command={command('queues')}
        actions={queue.data && <Actions queue={queue.data} onChange={queue.reload} />}
      />
      <Await of={queue}>
        {(answer) => (
          <>
            <Notices queue={answer} />
            {answer.items.length === 0 ? (
              <Empty title="Nothing is queued">
                <p>{counted(answer.counts.running + answer.counts.launching, 'experiment')} running.</p>
              </Empty>
            ) : (
              <Waiting queue={answer} onChange={queue.reload} />
            )}
          </>
        )}
      </Await>
    </>
  );
}

function Waiting({ queue, onChange }: { queue: Answered; onChange: () => void }) {
  const now = Date.now();
  const end = axisEnd(
    queue.items.map(({ estimate }) => estimate),
    now,
  );
  return (
    <section class="card scroll">
      <div class="card-head">
        <h2>Queued experiments</h2>
        <span class="muted">
          {count(queue.items.length)} of {count(queue.length)}, in queue order
        </span>
        <span class="muted end">
          Bars: earliest to latest start, on an axis from now to in {duration(end - now)}; the mark is the
          most likely one.
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
            <th scope="col">Why not now</th>
            <th scope="col">Estimated start</th>
            <th scope="col">Submitted</th>
          </tr>
        </thead>
        <tbody>
          {queue.items.map((item) => (
            <Row key={item.experiment} {...{ item, now, end, onChange }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ item, now, end, onChange }: { item: Item; now: number; end: number; onChange: () => void }) {
  const { experiment, estimate } = item;
  const change = async (priority: number) => {
    await api.patch('/v1/experiments/{id}', { path: { id: experiment }, body: { priority } });
    onChange();
  };
  return (
    <tr>
      <td class="number">{item.position}</td>
      <td>
        <a href={`/experiments/${experiment}`}>{inert(item.name)}</a>
        <div class="muted">{item.project}</div>
      </td>
      <td class="number">{item.gpus}</td>
      <td class="number">
        {may.value('submit') ? (
          <input
            type="number"
            class="tiny"
            aria-label={`Priority of ${item.name}`}
            value={item.priority}
            onChange={(event) => void change(Number(event.currentTarget.value))}
          />
        ) : (
          item.priority
        )}
      </td>
      <td class="wrap">{inert(item.waitReason ?? 'not yet considered')}</td>
      <td class="estimate">
        {estimate === null ? (
          <span class="muted">
            unknown
            {item.noEstimate !== null && item.noEstimate !== item.waitReason && `: ${inert(item.noEstimate)}`}
          </span>
        ) : (
          <>
            <Clock at={estimate.startAt} />{' '}
            <span class="muted">
              (<Clock at={estimate.earliest} /> to <Clock at={estimate.latest} />)
            </span>
            <Range {...spanOf(estimate, now, end)} />
          </>
        )}
      </td>
      <td class="muted">
        <Ago at={item.submittedAt} />
      </td>
    </tr>
  );
}

function Range({ from, at, to }: { from: number; at: number; to: number }) {
  return (
    <span class="range" aria-hidden="true">
      <span class="bar" style={{ left: `${from * 100}%`, width: `${Math.max(0.5, (to - from) * 100)}%` }} />
      <span class="at" style={{ left: `${at * 100}%` }} />
    </span>
  );
}

function Actions({ queue, onChange }: { queue: Answered; onChange: () => void }) {
  const path = { name: '_all' };
  if (!may.value('admin')) return null;
  const then = (call: Promise<unknown>) => call.then(onChange);
  if (queue.paused.all || queue.closed.all) {
    return (
      <Confirm
        label="Resume"
        title="Resume the queue of all projects?"
        verb="Resume"
        act={() => then(api.post('/v1/queues/{name}/resume', { path }))}
      >
        <p>Up to {counted(queue.length, 'queued experiment')} may start, and new ones are accepted.</p>
      </Confirm>
    );
  }
  return (
    <Confirm
      label="Pause"
      title="Pause the queue of all projects?"
      verb="Pause"
      act={() => then(api.post('/v1/queues/{name}/pause', { path, body: {} }))}
    >
      <p>
        {counted(queue.length, 'queued experiment')} will not start until the queue is resumed.{' '}
        {counted(queue.counts.running, 'running experiment')}{' '}
        {nounOf(queue.counts.running, 'continues', 'continue')}.
      </p>
    </Confirm>
  );
}
