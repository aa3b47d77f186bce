import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { api } from '../app/api.ts';
import { Confirm } from './dialog.tsx';

type Cluster = Answer<'get', '/v1/clusters'>['items'][number];

/** Pauses, drains or resumes a cluster, and says before what that does. */
export function ClusterActions({ cluster, onChange }: { cluster: Cluster; onChange: () => void }) {
  const { name, paused, draining, experiments } = cluster;
  const running = counted(experiments.length, 'experiment');
  const action = (verb: 'Pause' | 'Drain' | 'Resume', does: string) => {
    const path = `/v1/clusters/{name}/${verb.toLowerCase() as Lowercase<typeof verb>}` as const;
    const input = { path: { name }, ...(verb === 'Pause' && { body: {} }) };
    return (
      <Confirm
        label={verb}
        name={`${verb} cluster ${name}`}
        title={`${verb} ${name}?`}
        verb={verb}
        act={() => api.post(path, input).then(onChange)}
      >
        <p>{does}</p>
      </Confirm>
    );
  };
  if (paused || draining) return action('Resume', 'Queued experiments may start there again.');
  return (
    <>
      {action('Pause', `No experiment starts there until it is resumed. ${running} there continue.`)}
      {action('Drain', `No experiment starts there. ${running} there continue to their end.`)}
    </>
  );
}
