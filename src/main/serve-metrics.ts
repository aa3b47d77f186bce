import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { Settings } from '../config/settings.ts';
import type { EchelonError } from '../core/errors.ts';
import type { Metrics } from '../observe/metrics.ts';
import { startMetricsServer } from '../observe/metrics-server.ts';
import { SHOWN_EXPERIMENTS, type StoreFigures } from '../observe/store-gauges.ts';
import { projectFigures } from '../scheduler/project-figures.ts';
import { viewOf } from '../schemas/project.ts';
import type { Allocation, Cluster } from '../store/clusters/types.ts';
import type { Store } from '../store/store.ts';
import type { StoreWatch } from './watch-store.ts';

/** Serves `/metrics` on each address of the settings if they name a port for it; closed by `resources`. */
export async function serveMetrics({
  settings,
  metrics,
  store,
  storeFault,
  resources,
}: {
  settings: Settings;
  metrics: Metrics;
  store: Store;
  storeFault: StoreWatch['fault'];
  resources: AsyncDisposableStack;
}): Promise<void> {
  if (settings.metricsPort === 0) return;
  for (const name of settings.metricsHosts) {
    const host = await ownAddress(name);
    const server = await startMetricsServer({
      host,
      port: settings.metricsPort,
      metrics,
      async ready() {
        const fault = storeFault();
        if (fault !== null) throw fault;
        await store.pressure();
      },
    });
    resources.defer(() => server.close());
  }
}

/** The address of `name` that is this machine's: the name of a container network has one for each replica. */
async function ownAddress(name: string): Promise<string> {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
  const addresses = await lookup(name, { all: true });
  return addresses.find(({ address }) => own.includes(address))?.address ?? name;
}

/** What the store says of the whole system, for one scrape. */
export async function readFigures(store: Store, fault: EchelonError | null): Promise<StoreFigures> {
  const [experiments, line, verificationBacklog, leases, memory, clock, clusters, running] =
    await Promise.all([
      store.experiments.counts(),
      store.queue.position(''),
      store.batches.backlog(),
      store.attempts.leases(),
      store.pressure(),
      store.clock.read(),
      store.clusters.list(),
      store.experiments.list({ state: 'running', limit: SHOWN_EXPERIMENTS }),
    ]);
  const [projects, stored, pauses, archiveBacklog, rulesBacklog] = await Promise.all([
    store.projects.list(),
    store.projects.storedBytes(),
    store.queue.pauses(),
    store.archive.backlog(),
    store.rules.backlog(),
  ]);
  const allocations = await Promise.all(clusters.map(({ name }) => store.clusters.allocations(name)));
  return {
    experiments,
    queueLength: line.length,
    verificationBacklog,
    archiveBacklog,
    rulesBacklog,
    leases,
    memory,
    clockLeap: -clock.correction,
    fault: fault?.code ?? null,
    clusters: clusters.map((cluster, at) => clusterFigures(cluster, allocations[at]?.items ?? [])),
    projects: projectFigures({
      clusters,
      projects: projects.map((project) => viewOf(project, { stored, projectBytes: memory.projectBytes })),
      paused: pauses.projects,
      held: allocations.flatMap(({ items }) => items),
    }),
    running: running.items.map(({ id, progress }) => ({ id, ...progress })),
  };
}

function clusterFigures(
  { name, lastSeenAt, nodes, unknownAttempts = [] }: Cluster,
  allocated: readonly Allocation[],
) {
  return { name, lastSeenAt, nodes, unknownAttempts: unknownAttempts.length, allocated };
}
