import type { AttemptName } from '../../core/ids.ts';
import { isHeld } from '../../core/states.ts';
import type { AttemptStatus, RayWorkerClient } from '../../rpc/ray-worker.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';

/** Time between two checks of a cluster. */
const CHECK_MS = 30_000;
/** A slow list delays the refresh of clusters by no more than this. */
const ANSWER_MS = 5_000;
/** Unknown attempts that are named. */
const MAX_NAMED = 100;

/** The attempts that run on a cluster and that the store does not know; see {@link createUnknownAttempts}. */
interface UnknownAttempts {
  /** As of the last check. `recheck`: checks now. */
  on(cluster: string, client: RayWorkerClient, options: { recheck: boolean }): Promise<AttemptName[]>;
}

/**
 * Finds attempts that run on a cluster and are not the present attempt of an experiment there, as after a restore of an older
 * Redis. They are named and otherwise left alone: no dispatcher can tell whether their results are still wanted.
 */
export function createUnknownAttempts({
  store,
  elapsed,
  log,
  checkMs = CHECK_MS,
}: {
  store: Pick<Store, 'attempts'>;
  /** Milliseconds since any moment, by a clock that cannot be set. */
  elapsed: () => number;
  log: Log;
  checkMs?: number | undefined;
}): UnknownAttempts {
  // A changed or removed cluster has another client.
  const checks = new WeakMap<RayWorkerClient, { at: number; found: AttemptName[] }>();
  return {
    async on(cluster, client, { recheck }) {
      const last = checks.get(client);
      if (last && !recheck && elapsed() - last.at < checkMs) return last.found;
      const check = { at: elapsed(), found: last?.found ?? [] };
      checks.set(client, check);
      try {
        check.found = (await findUnknown(store, cluster, client)).slice(0, MAX_NAMED);
      } catch (error) {
        log.warn({ cluster, err: error }, 'cannot compare the running attempts of a cluster with the store');
      }
      if (JSON.stringify(check.found) !== JSON.stringify(last?.found ?? []))
        log.warn(
          { cluster, unknown: check.found },
          check.found.length > 0
            ? 'attempts run on a cluster that the store does not know; they are left alone'
            : 'no unknown attempt runs on a cluster any more',
        );
      return check.found;
    },
  };
}

/**
 * An attempt is in the store before its launch, so the store is read after the list. Its end is in the store after the end
 * of its driver, so a second list says whether the driver still runs.
 */
async function findUnknown(
  store: Pick<Store, 'attempts'>,
  cluster: string,
  client: RayWorkerClient,
): Promise<AttemptName[]> {
  const running = await listRunning(client);
  const present = await store.attempts.present(running.map(({ experiment }) => experiment));
  const unknown = running.filter(({ experiment, attempt }) => {
    const record = present.get(experiment);
    return !(record && isHeld(record.state) && record.attempt === attempt && record.cluster === cluster);
  });
  if (unknown.length === 0) return [];
  const nameOf = ({ experiment, attempt }: AttemptName) => `${experiment}/${attempt}`;
  const still = new Set((await listRunning(client)).map(nameOf));
  return unknown
    .filter((one) => still.has(nameOf(one)))
    .map(({ experiment, attempt }) => ({ experiment, attempt }));
}

async function listRunning(client: RayWorkerClient): Promise<AttemptStatus[]> {
  const attempts = await client.list(undefined, AbortSignal.timeout(ANSWER_MS));
  return attempts.filter(({ running }) => running);
}
