import { counted, nounOf } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { useState } from 'preact/hooks';
import { api } from '../../app/api.ts';
import { may } from '../../app/session.ts';
import { count } from '../../models/words.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { Choice } from '../../parts/filters.tsx';
import { Command } from '../../parts/head.tsx';

type Queue = Answer<'get', '/v1/queues'>;

/** The API's name for the queue of all projects. */
const ALL = '_all';
const queueOf = (name: string) => (name === ALL ? 'the queue of all projects' : `the queue of ${name}`);

/** Pauses and resumes the queue of all projects or of one, and says before what that does. */
export function QueueActions({ queue, onChange }: { queue: Queue; onChange: () => void }) {
  if (!may.value('admin')) return null;
  const { paused, closed } = queue;
  const stopped = [
    ...(paused.all || closed.all ? [ALL] : []),
    ...new Set([...Object.keys(paused.projects), ...Object.keys(closed.projects)]),
  ];
  return (
    <>
      {stopped.map((name) => (
        <Resume key={name} {...{ name, queue, onChange }} />
      ))}
      {!stopped.includes(ALL) && <Pause {...{ queue, onChange }} />}
    </>
  );
}

interface ActionProps {
  queue: Queue;
  onChange: () => void;
}

function Resume({ name, queue, onChange }: ActionProps & { name: string }) {
  const path = { name };
  return (
    <Confirm
      label={name === ALL ? 'Resume' : `Resume ${name}`}
      title={`Resume ${queueOf(name)}?`}
      verb="Resume"
      act={() => api.post('/v1/queues/{name}/resume', { path }).then(onChange)}
    >
      <p>{waiting(queue, name)} may start, and new ones are accepted.</p>
    </Confirm>
  );
}

function Pause({ queue, onChange }: ActionProps) {
  const [name, setName] = useState(ALL);
  const projects = [...new Set(queue.items.map(({ project }) => project))].filter(
    (one) => queue.paused.projects[one] === undefined,
  );
  const { running } = queue.counts;
  return (
    <Confirm
      label="Pause"
      title={`Pause ${queueOf(name)}?`}
      verb="Pause"
      act={() => api.post('/v1/queues/{name}/pause', { path: { name }, body: {} }).then(onChange)}
    >
      {projects.length > 1 && (
        <p>
          <Choice
            label="Of"
            value={name}
            options={[{ value: ALL, label: 'all projects' }, ...projects]}
            onChoose={setName}
          />
        </p>
      )}
      <p>
        {waiting(queue, name)} will not start until the queue is resumed. New ones are still accepted.{' '}
        {name === ALL
          ? `${counted(running, 'running experiment')} ${nounOf(running, 'continues', 'continue')}.`
          : 'Running experiments continue.'}
      </p>
      <Command text={`echelon queues pause${name === ALL ? '' : ` ${name}`}`} />
    </Confirm>
  );
}

/** The number of queued experiments; of one project, those of the page that was read. */
function waiting({ items, length }: Queue, name: string): string {
  if (name === ALL) return counted(length, 'queued experiment');
  const own = items.filter(({ project }) => project === name).length;
  if (items.length === length) return counted(own, 'queued experiment');
  return `At least ${count(own)} queued ${nounOf(own, 'experiment')}`;
}
