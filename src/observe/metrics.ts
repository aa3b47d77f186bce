import { collectDefaultMetrics, Registry } from 'prom-client';
import { gauge } from './instruments.ts';
import { createStoreGauges, type StoreFigures } from './store-gauges.ts';
import { createWorkCounters, type WorkCounters } from './work-counters.ts';

/*
 * Prometheus metrics of two kinds. Metrics of this process (its answers, appends and verifications) are summed over
 * processes. Metrics of the store (the queue, the clusters) are read by every process at each scrape and are the same
 * everywhere: take their maximum.
 */

/** The metrics of one process. */
export interface Metrics extends WorkCounters {
  contentType: string;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
}

/**
 * Metrics of a process. `readStore` runs at each scrape. If it fails, its gauges are omitted and `echelon_store_up` is 0.
 * `dispatcher` returns the work of this process's dispatcher, if it has one.
 */
export function createMetrics({
  role,
  version,
  readStore,
  dispatcher,
}: {
  role: string;
  version: string;
  readStore: () => Promise<StoreFigures>;
  dispatcher?: () => { attempts: number; verifying: number; cutOff: number } | undefined;
}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  gauge(registry, 'echelon_build_info', 'Always 1; the version is a label', ['version']).set({ version }, 1);
  const work = createWorkCounters(registry);
  const showStore = createStoreGauges(registry);
  const hand = gauge(registry, 'echelon_dispatcher_attempts', 'Attempts that this dispatcher holds');
  const verifying = gauge(registry, 'echelon_dispatcher_verifying', 'Batches that this dispatcher verifies');
  const cutOff = gauge(
    registry,
    'echelon_dispatcher_clusters_cut_off',
    'Clusters that this dispatcher does not reach, although another one does',
  );

  return {
    contentType: registry.contentType,
    async text() {
      showStore(await readStore().catch(() => undefined));
      const now = dispatcher?.();
      hand.set(now?.attempts ?? 0);
      verifying.set(now?.verifying ?? 0);
      cutOff.set(now?.cutOff ?? 0);
      return await registry.metrics();
    },
    ...work,
  };
}
