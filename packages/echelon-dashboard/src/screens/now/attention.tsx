import { counted } from 'command-kit/plural';
import type { Experiment } from 'echelon-client/calls';
import { count, inert } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { Ago, MiddleClip, Outcomes, Status } from '../../parts/marks.tsx';

const SHOWN = 12;

interface AttentionProps {
  experiments: readonly Experiment[];
  /** Whether there are older ones than those given. */
  hasMore: boolean;
}

/** What needs a person: wrong signals, failures, and experiments that a rule stopped. Each is there once. */
export function Attention({ experiments, hasMore }: AttentionProps) {
  const { length } = experiments;
  const note =
    length > SHOWN
      ? `${SHOWN} of ${count(length)}${hasMore ? ' or more' : ''}`
      : counted(length, 'experiment');
  return (
    <Card
      title="Needs attention"
      note={note}
      end={
        length > 0 && (
          <>
            <a href="/experiments?outcome=wrong">Wrong signal</a> ·{' '}
            <a href="/experiments?state=failed">Failed</a>
          </>
        )
      }
    >
      {length === 0 ? (
        <p class="card-body muted">No training signal is wrong, and nothing has failed.</p>
      ) : (
        <ul class="entries">
          {experiments.slice(0, SHOWN).map((one) => (
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
        <a href={`/experiments/${id}`} class="clip" title={inert(name)}>
          <MiddleClip text={name} />
        </a>
        <Status of={experiment} />
        <span class="muted">
          <Ago at={endedAt ?? submittedAt} />
        </span>
      </span>
      {verification.signal === 'wrong' && (
        <span class="line-of-parts">
          <Outcomes counts={verification} rows={verification.rowsSeen} />
          {verification.wrong === 0 && (
            <a href={`/experiments/${id}?tab=verification&show=not-ok`}>batches contradict themselves</a>
          )}
        </span>
      )}
      {state === 'failed' && <span class="muted">{inert(reason)}</span>}
      {stoppedBy && <span class="muted">{inert(stoppedBy.reason)}</span>}
    </li>
  );
}
