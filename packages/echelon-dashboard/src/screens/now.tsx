import { useEffect, useState } from 'preact/hooks';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet, usePolling } from '../app/resource.ts';
import { now } from '../app/server-clock.ts';
import { command } from '../models/commands.ts';
import { ACTIVE, attention, newestOf } from '../models/experiments.ts';
import { sinceInWords } from '../models/now.ts';
import { count } from '../models/words.ts';
import { Start } from '../parts/empty-installation.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Fact } from '../parts/marks.tsx';
import { Notices } from '../parts/notices.tsx';
import { Await } from '../parts/states.tsx';
import { Attention } from './now/attention.tsx';
import { Queued } from './now/queued.tsx';
import { Running } from './now/running.tsx';

const LOOKED_AT = 100;

/** The running experiments first, then what needs a person, then the queue. */
export function Now() {
  const newest = useGet('/v1/experiments', { query: { limit: LOOKED_AT } });
  const active = useGet('/v1/experiments', { query: { state: [...ACTIVE], limit: LOOKED_AT } });
  const wrong = useGet('/v1/experiments', { query: { outcome: 'wrong', limit: LOOKED_AT } });
  const failed = useGet('/v1/experiments', { query: { state: ['failed'], limit: LOOKED_AT } });
  const queue = useGet('/v1/queues', { query: { limit: 200 } });
  const allocations = useGet('/v1/allocations', {});
  const [tick, setTick] = useState(0);
  const refresh = useThrottled(() => {
    for (const one of [newest, active, wrong, failed, queue, allocations]) one.reload();
    setTick((n) => n + 1);
  }, 1000);
  useFeed(refresh);
  // All at once, so that nothing is pushed down by a later part.
  const isReady = [active, wrong, failed, queue, allocations].every(({ loading }) => !loading);
  const counts = queue.data?.counts;
  // The feed tells of queued ones, unless no dispatcher is left to write it.
  usePolling(refresh, counts !== undefined && counts.launching + counts.running > 0 ? 5000 : 15_000);
  return (
    <>
      <Head title="Now" command={command('queues')} />
      {isReady && queue.data && <Notices queue={queue.data} />}
      {isReady && queue.data && (
        <dl class="facts">
          {(['running', 'queued', 'succeeded', 'failed', 'cancelled'] as const).map((state) => (
            <Fact key={state} name={state}>
              <a href={`/experiments?state=${state}`}>{count(queue.data!.counts[state])}</a>
            </Fact>
          ))}
          <Fact name="batches not yet verified">{count(queue.data.verificationBacklog)}</Fact>
        </dl>
      )}
      <Await of={{ ...newest, data: isReady ? newest.data : undefined }}>
        {({ items }) => {
          if (items.length === 0) return <Start />;
          const found = attention(newestOf(items, wrong.data?.items ?? [], failed.data?.items ?? []));
          const hasMore = Boolean(wrong.data?.next ?? failed.data?.next);
          return (
            <>
              <SinceLast experiments={items} />
              <div class="stack">
                <Running experiments={active.data?.items ?? []} allocations={allocations.data} tick={tick} />
                <div class="now">
                  <Attention experiments={found} hasMore={hasMore} />
                  {queue.data && <Queued queue={queue.data} />}
                </div>
              </div>
            </>
          );
        }}
      </Await>
    </>
  );
}

const LAST_LOOK = 'echelon.last-look';

/** What ended since this browser last showed the screen. */
function SinceLast({ experiments }: { experiments: Parameters<typeof sinceInWords>[0] }) {
  const [last] = useState(() => Number(localStorage.getItem(LAST_LOOK)) || undefined);
  useEffect(() => localStorage.setItem(LAST_LOOK, String(now())));
  const words = last && sinceInWords(experiments, last);
  if (!words) return null;
  return (
    <p class="reason-line muted">
      Since you last looked, <Ago at={last} />: {words}.
    </p>
  );
}
