import type { Experiment } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet, usePolling } from '../app/resource.ts';
import { command } from '../models/commands.ts';
import { attention, newestOf, progressOf } from '../models/experiments.ts';
import { count, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { Start } from '../parts/empty-installation.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Fact, Outcomes, Status } from '../parts/marks.tsx';
import { Notices } from '../parts/notices.tsx';
import { Await } from '../parts/states.tsx';

const LOOKED_AT = 100;

/** What needs a person: wrong signals, failures, experiments that cannot start; and the running ones. */
export function Now() {
  const list = useGet('/v1/experiments', { query: { limit: LOOKED_AT } });
  const queue = useGet('/v1/queues', { query: { limit: 200 } });
  const wrong = useGet('/v1/experiments', { query: { outcome: 'wrong', limit: LOOKED_AT } });
  const failed = useGet('/v1/experiments', { query: { state: ['failed'], limit: LOOKED_AT } });
  const refresh = useThrottled(() => {
    wrong.reload();
    failed.reload();
    list.reload();
    queue.reload();
  }, 1000);
  useFeed(refresh);
  const counts = queue.data?.counts;
  // The feed tells of queued ones.
  usePolling(refresh, 5000, counts !== undefined && counts.launching + counts.running > 0);
  return (
    <>
      <Head title="Now" command={command('queues')} />
      {queue.data && <Notices queue={queue.data} />}
      {queue.data && (
        <dl class="facts">
          {(['running', 'queued', 'succeeded', 'failed', 'cancelled'] as const).map((state) => (
            <Fact key={state} name={state}>
              <a href={`/experiments?state=${state}`}>{count(queue.data!.counts[state])}</a>
            </Fact>
          ))}
          <Fact name="batches not yet verified">{count(queue.data.verificationBacklog)}</Fact>
        </dl>
      )}
      <Await of={list}>
        {({ items, next }) => {
          if (items.length === 0) return <Start />;
          const found = attention(items);
          const { running } = found;
          const stuck = queue.data?.items.filter(({ estimate }) => estimate === null) ?? [];
          const among = next === null ? '' : `among the newest ${LOOKED_AT}`;
          return (
            <div class="now">
              <List
                title="Signal wrong"
                items={newestOf(wrong.data?.items ?? [], found.wrong)}
                among={wrong.data?.next ? 'and more' : ''}
                all="/experiments?outcome=wrong"
                none="Every verified row is right."
              />
              <List
                title="Failed or stopped by a rule"
                items={newestOf(failed.data?.items ?? [], found.failed)}
                among={failed.data?.next ? 'and more' : ''}
                all="/experiments?state=failed"
                none="Nothing has failed."
              />
              <Card title="Queued with an unknown start" note={count(stuck.length)}>
                {stuck.length === 0 ? (
                  <p class="card-body muted">Every queued experiment has an estimated start.</p>
                ) : (
                  <ul class="entries">
                    {stuck.slice(0, 8).map(({ experiment, name, waitReason, noEstimate }) => (
                      <li key={experiment}>
                        <a href={`/experiments/${experiment}`}>{inert(name)}</a>
                        <span class="muted">{inert(waitReason ?? noEstimate ?? '')}</span>
                      </li>
                    ))}
                  </ul>
                )}
              </Card>
              <List title="Running" items={running} among={among} none="Nothing runs." />
            </div>
          );
        }}
      </Await>
    </>
  );
}

const SHOWN = 8;

interface ListProps {
  title: string;
  items: Experiment[];
  among: string;
  none: string;
  /** A screen with all of them. */
  all?: string;
}

function List({ title, items, among, none, all }: ListProps) {
  return (
    <Card
      title={title}
      note={`${items.length > SHOWN ? `${SHOWN} of ${count(items.length)}` : counted(items.length, 'experiment')} ${among}`}
      end={all && items.length > 0 && <a href={all}>Show all</a>}
    >
      {items.length === 0 ? (
        <p class="card-body muted">{none}</p>
      ) : (
        <ul class="entries">
          {items.slice(0, SHOWN).map((one) => (
            <Entry key={one.id} experiment={one} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Entry({ experiment }: { experiment: Experiment }) {
  const { id, name, state, reason, stoppedBy, verification, submittedAt, endedAt } = experiment;
  return (
    <li>
      <span class="line-of-parts">
        <a href={`/experiments/${id}`} class="clip">
          {inert(name)}
        </a>
        <Status of={experiment} />
        <span class="muted">
          <Ago at={endedAt ?? submittedAt} />
        </span>
      </span>
      <span class="line-of-parts">
        {state === 'running' && <span class="muted">{progressOf(experiment).text}</span>}
        {verification.rowsSeen > 0 && <Outcomes counts={verification} rows={verification.rowsSeen} />}
      </span>
      {state === 'failed' && <span class="muted">{inert(reason)}</span>}
      {stoppedBy && (
        <span class="muted">
          Rule {stoppedBy.rule}: {inert(stoppedBy.reason)}
        </span>
      )}
    </li>
  );
}
