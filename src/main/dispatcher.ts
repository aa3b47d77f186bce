import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { VerifierPool } from 'echelon-verify/pool';
import type { Settings } from '../config/settings.ts';
import { packRayWorker } from '../dispatch/clusters/setup/package.ts';
import { createDispatcher, type DispatcherDeps, type DispatcherStats } from '../dispatch/dispatcher.ts';
import { blockList } from '../dispatch/notifications/addresses.ts';
import type { SendSettings } from '../dispatch/notifications/send.ts';
import type { Metrics } from '../observe/metrics.ts';
import { compilePlan } from '../plan/compile-plan.ts';
import type { DeliveriesQueue } from '../queue/deliveries-queue.ts';

const directoryOf = (name: string) => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));

/** Dispatches until `resources` stops it; it hands over then. Gives what it has in hand. */
export async function startDispatcher(
  parts: Pick<DispatcherDeps, 'store' | 'queue' | 'log' | 'installation'> & {
    deliveries: DeliveriesQueue;
    verifier: VerifierPool;
    metrics: Pick<Metrics, 'verified'>;
    settings: Settings;
    resources: AsyncDisposableStack;
  },
): Promise<() => DispatcherStats> {
  const { verifier, metrics, settings, resources, deliveries, ...rest } = parts;
  const dispatcher = createDispatcher({
    ...rest,
    id: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    verifier: timed(verifier, metrics),
    compile: compilePlan,
    pack: () => packRayWorker({ rayWorker: directoryOf('ray-worker'), capture: directoryOf('capture') }),
    verifications: settings.verifyProcesses,
    times: { leaseMs: settings.leaseMs },
    notifications: { queue: deliveries, settings: sendSettings(settings) },
    preemptWithinMs: settings.preemptWithinMs,
    cordon: { after: settings.cordonAfterFaults, forMs: settings.cordonMinutes * 60_000 },
  });
  await dispatcher.start();
  resources.defer(() => dispatcher.stop({ handOver: true }));
  return dispatcher.stats;
}

function sendSettings({
  publicUrl,
  smtpUrl,
  smtpFrom,
  mailDomains,
  notifyPrivate,
  notifySecretsDir,
}: Settings): SendSettings {
  const allowed = blockList(notifyPrivate);
  return { publicUrl, smtpUrl, smtpFrom, mailDomains, secretsDir: notifySecretsDir, allowed };
}

function timed(verifier: VerifierPool, metrics: Pick<Metrics, 'verified'>): DispatcherDeps['verifier'] {
  return {
    async verify(wire, signal) {
      const started = performance.now();
      const report = await verifier.verify(wire, signal);
      metrics.verified((performance.now() - started) / 1000);
      return report;
    },
  };
}
