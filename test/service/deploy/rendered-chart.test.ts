import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';

const TOOLS = '.cache/chart-tools/bin/python';
const skip = existsSync(TOOLS) ? false : 'no renderer here: run scripts/check-chart.sh once';

interface Selector {
  matchLabels?: Record<string, string>;
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Pod {
  metadata: { labels: Record<string, string> };
  spec: {
    containers: { name: string; command?: string[]; volumeMounts: { name: string; mountPath: string }[] }[];
    volumes: { name: string; secret?: { secretName: string; defaultMode: number } }[];
  };
}
interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    podSelector: Selector;
    policyTypes: string[];
    ingress?: { from?: Peer[]; ports?: { port: number }[] }[];
    egress?: { to?: Peer[]; ports?: { port: number }[] }[];
    template?: { metadata: { labels: Record<string, string> } };
    headGroupSpec?: { template: Pod };
    workerGroupSpecs?: { template: Pod }[];
  };
}

function render(values: string): Manifest[] {
  const done = spawnSync(TOOLS, ['scripts/check-chart.py', '--render', values], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout) as Manifest[];
}

/** Labels of the pods of the manifests, by a short name. */
function podsOf(manifests: Manifest[]): Map<string, Record<string, string>> {
  const pods = new Map<string, Record<string, string>>();
  for (const { kind, spec } of manifests) {
    const groups = kind === 'RayCluster' ? [spec.headGroupSpec!, ...spec.workerGroupSpecs!] : [];
    for (const { template } of groups) {
      const { labels } = template.metadata;
      pods.set(`ray-${labels['echelon/ray-role']}`, labels);
    }
    const labels = kind === 'RayCluster' ? undefined : spec?.template?.metadata.labels;
    if (labels) pods.set(labels['app.kubernetes.io/component']!, labels);
  }
  return pods;
}

const matches = ({ matchLabels = {} }: Selector, labels: Record<string, string>): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value);

/** Whether the policies let `from` reach `to` at a port, both being pods of the release's namespace. */
function mayReach(
  policies: Manifest[],
  { from, to, port }: { from: Record<string, string>; to: Record<string, string>; port: number },
): boolean {
  const open = (
    rule: { ports?: { port: number }[] },
    peers: Peer[] | undefined,
    other: Record<string, string>,
  ) =>
    (!rule.ports || rule.ports.some((one) => one.port === port)) &&
    (!peers ||
      peers.some((peer) => peer.podSelector && !peer.namespaceSelector && matches(peer.podSelector, other)));
  const of = (labels: Record<string, string>, direction: string) =>
    policies.filter(({ spec }) => spec.policyTypes.includes(direction) && matches(spec.podSelector, labels));
  const out = of(from, 'Egress');
  const into = of(to, 'Ingress');
  return (
    (out.length === 0 || out.some(({ spec }) => spec.egress?.some((rule) => open(rule, rule.to, to)))) &&
    (into.length === 0 || into.some(({ spec }) => spec.ingress?.some((rule) => open(rule, rule.from, from))))
  );
}

describe('the rendered chart', { skip }, () => {
  test('the network policies of the chart allow exactly the connections that each pod needs', () => {
    const manifests = render('helm/echelon/examples/ray.yaml');
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
    const pods = podsOf(manifests);
    assert.deepEqual([...pods.keys()].sort(), ['api', 'dispatcher', 'ray-head', 'ray-node', 'redis']);
    const doors = {
      redis: [6379],
      api: [7077, 9464],
      dispatcher: [9464],
      'ray-head': [7400, 10001, 6379],
      'ray-node': [22],
    };
    const reached = [...pods].flatMap(([name, from]) =>
      Object.entries(doors).flatMap(([target, ports]) =>
        ports
          .filter((port) => target !== name && mayReach(policies, { from, to: pods.get(target)!, port }))
          .map((port) => `${name} > ${target}:${port}`),
      ),
    );
    assert.deepEqual(reached.sort(), [
      'api > redis:6379',
      'dispatcher > ray-head:10001',
      'dispatcher > ray-head:7400',
      'dispatcher > redis:6379',
      'ray-head > ray-node:22',
      'ray-node > ray-head:10001',
      'ray-node > ray-head:6379',
      'ray-node > ray-head:7400',
    ]);
  });

  test('the network policy of Ray blocks private address ranges outside the cluster', () => {
    const manifests = render('helm/echelon/examples/ray.yaml');
    const ray = manifests.find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith('-ray'),
    );
    const blocks = ray!.spec.egress!.flatMap((rule) => (rule.to ?? []).flatMap((peer) => peer.ipBlock ?? []));
    assert.deepEqual(blocks, [
      { cidr: '0.0.0.0/0', except: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'] },
    ]);
  });

  test('training secrets are mounted only into the head, where the ray-worker reads them, and not for other users', () => {
    const manifests = render('helm/echelon/examples/production.yaml');
    const { spec } = manifests.find(({ kind }) => kind === 'RayCluster')!;
    const { containers, volumes } = spec.headGroupSpec!.template.spec;
    const secret = volumes.find(({ name }) => name === 'training-secret')?.secret;
    assert.deepEqual(secret, { secretName: 'trainings', defaultMode: 0o440 });
    const [head, start] = containers;
    const mount = head?.volumeMounts.find(({ name }) => name === 'training-secret');
    assert.ok(start?.command?.at(-1)?.includes(` --secrets-dir ${mount?.mountPath} `));
    const others = JSON.stringify([start?.volumeMounts, spec.workerGroupSpecs]);
    assert.doesNotMatch(others, /training-secret/);
    assert.doesNotMatch(
      JSON.stringify(render('helm/echelon/examples/ray.yaml')),
      /secrets-dir|training-secret/,
    );
  });

  test('every network policy of the chart selects a pod', () => {
    for (const example of ['minimal', 'ray', 'production']) {
      const manifests = render(`helm/echelon/examples/${example}.yaml`);
      const pods = [...podsOf(manifests).values()];
      for (const { kind, metadata, spec } of manifests)
        if (kind === 'NetworkPolicy')
          assert.ok(
            pods.some((labels) => matches(spec.podSelector, labels)),
            `${example}: ${metadata.name}`,
          );
    }
  });
});
