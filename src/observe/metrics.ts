import { collectDefaultMetrics, Registry } from 'prom-client';
import { gauge } from './instruments.ts';
import { createStoreGauges, type StoreFigures } from './store-gauges.ts';
import { createWorkCounters, type WorkCounters } from './work-counters.ts';

/*
 * What Prometheus is told. Two kinds of numbers: those of this process (how long its answers take, what it appended
 * and verified), to be added up over processes; and those of the store (the line, the clusters), which every process
 * reads at each scrape and which are the same everywhere, to be taken as a maximum.
 */

/** The metrics of one process. */
export interface Metrics extends WorkCounters {
  contentType: string;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
}

/**
 * Metrics of a process. `readStore` is asked at each scrape; where it fails, its gauges are left out and
 * `echelon_store_up` is 0. `dispatcher` is asked for what a dispatcher has in hand, where there is one.
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
  dispatcher?: () => { attempts: number; verifying: number } | undefined;
}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  gauge(registry, 'echelon_build_info', 'Always 1; the version is a label', ['version']).set({ version }, 1);
  const work = createWorkCounters(registry);
  const showStore = createStoreGauges(registry);
  const hand = gauge(registry, 'echelon_dispatcher_attempts', 'Attempts that this dispatcher holds');
  const verifying = gauge(registry, 'echelon_dispatcher_verifying', 'Batches that this dispatcher verifies');

  return {
    contentType: registry.contentType,
    async text() {
      showStore(await readStore().catch(() => undefined));
      const now = dispatcher?.();
      hand.set(now?.attempts ?? 0);
      verifying.set(now?.verifying ?? 0);
      return await registry.metrics();
    },
    ...work,
  };
}
