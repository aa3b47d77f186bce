import type { Answer } from 'echelon-client/calls';
import { inert } from '../models/words.ts';
import { Ago } from './marks.tsx';

type Queue = Answer<'get', '/v1/queues'>;
type Pause = NonNullable<Queue['paused']['all']>;

/** What keeps experiments from being accepted, started or followed, if anything does. */
export function Notices({ queue }: { queue: Queue }) {
  const { paused, closed, accepting, dispatchers } = queue;
  return (
    <>
      {!dispatchers.present && (
        <p class="banner bad" role="alert">
          <strong>No dispatcher is connected</strong>: no experiment starts, and what happens in running ones
          is not recorded. What you see{' '}
          {dispatchers.lastSeenAt === null ? (
            'may be old'
          ) : (
            <>
              was last brought up to date <Ago at={dispatchers.lastSeenAt} />
            </>
          )}
          . Trainings continue meanwhile. Start one with <code>echelon dispatcher</code>.
        </p>
      )}
      {!accepting && <p class="banner warn">The store is full: no new experiment is accepted.</p>}
      {paused.all && <Notice what="The queue is paused: no experiment starts" pause={paused.all} />}
      {closed.all && <Notice what="The queue is closed: no new experiment is accepted" pause={closed.all} />}
      {Object.entries(paused.projects).map(([project, pause]) => (
        <Notice key={project} what={`The queue of project ${project} is paused`} pause={pause} />
      ))}
      {Object.entries(closed.projects).map(([project, pause]) => (
        <Notice key={project} what={`The queue of project ${project} is closed`} pause={pause} />
      ))}
    </>
  );
}

function Notice({ what, pause }: { what: string; pause: Pause }) {
  return (
    <p class="banner warn">
      {what}, by {inert(pause.by)}, <Ago at={pause.at} />.{pause.reason && ` ${inert(pause.reason)}`}
    </p>
  );
}
