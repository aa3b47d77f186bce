import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { groupsOf } from '../../models/now.ts';
import { count, inert, withNames } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { Ago } from '../../parts/marks.tsx';

const SHOWN = 12;

/** The queue in one line for each sweep or kind of experiment, with its expected start. */
export function Queued({ queue }: { queue: Answer<'get', '/v1/queues'> }) {
  const groups = groupsOf(queue.items);
  const names = new Map(queue.items.map(({ experiment, name }) => [experiment, name]));
  return (
    <Card
      title="Queue"
      note={counted(queue.length, 'queued experiment')}
      end={queue.length > 0 && <a href="/queue">Show all</a>}
    >
      {groups.length === 0 ? (
        <p class="card-body muted">Nothing is queued.</p>
      ) : (
        <ul class="entries">
          {groups.slice(0, SHOWN).map(({ name, first, count: size, startAt }) => (
            <li key={first.experiment}>
              <span class="line-of-parts">
                <a href={size === 1 ? `/experiments/${first.experiment}` : '/queue'} class="clip">
                  {inert(name)}
                </a>
                {size > 1 && <span>× {count(size)}</span>}
                <span class="muted">
                  {first.gpus > 0 ? counted(first.gpus, 'GPU') : counted(first.cpus, 'CPU')}
                  {size > 1 && ' each'} · starts <Ago at={startAt} never="at an unknown time" />
                </span>
              </span>
              <span class="muted">{inert(withNames(first.waitReason ?? 'not yet considered', names))}</span>
            </li>
          ))}
        </ul>
      )}
      {groups.length > SHOWN && (
        <p class="card-body muted small">
          {counted(groups.length - SHOWN, 'more line')} are on the queue's screen.
        </p>
      )}
    </Card>
  );
}
