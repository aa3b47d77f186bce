import type { Answer } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { api } from '../app/api.ts';
import { Confirm } from './dialog.tsx';

type Cluster = Answer<'get', '/v1/clusters'>['items'][number];

/** Pauses, drains or resumes a cluster, and says before what that does. */
export function ClusterActions({ cluster, onChange }: { cluster: Cluster; onChange: () => void }) {
  const path = { name: cluster.name };
  const then = (call: Promise<unknown>) => call.then(onChange);
  const running = counted(cluster.experiments.length, 'experiment');
  if (cluster.paused || cluster.draining) {
    return (
      <Confirm
        label="Resume"
        name={`Resume cluster ${cluster.name}`}
        title={`Resume ${cluster.name}?`}
        verb="Resume"
        act={() => then(api.post('/v1/clusters/{name}/resume', { path }))}
      >
        <p>Queued experiments may start there again.</p>
      </Confirm>
    );
  }
  return (
    <>
      <Confirm
        label="Pause"
        name={`Pause cluster ${cluster.name}`}
        title={`Pause ${cluster.name}?`}
        verb="Pause"
        act={() => then(api.post('/v1/clusters/{name}/pause', { path, body: {} }))}
      >
        <p>No experiment starts there until it is resumed. {running} there continue.</p>
      </Confirm>
      <Confirm
        label="Drain"
        name={`Drain cluster ${cluster.name}`}
        title={`Drain ${cluster.name}?`}
        verb="Drain"
        act={() => then(api.post('/v1/clusters/{name}/drain', { path }))}
      >
        <p>No experiment starts there. {running} there continue to their end.</p>
      </Confirm>
    </>
  );
}
