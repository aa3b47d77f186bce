import type { RayWorkerClient } from '../../rpc/ray-worker.ts';
import { insist, type Story } from './story.ts';

/*
 * Attempt numbers are given by the store, and the cluster remembers the highest. A cluster that knows a higher one
 * than the record was served by a store that this one is an older copy of (restored from a backup, or a replica that
 * was promoted too early), or is served by another store as well.
 */

/** The cluster knows a higher attempt of the experiment than its record. */
export class Outrun extends Error {
  /** The highest attempt that the cluster knows. */
  readonly highest: number;
  /** It was launched there; else it is a tombstone, and never will be. */
  readonly launched: boolean;

  constructor(higher: { highest: number; launched: boolean }, attempt: number) {
    super(
      `the cluster knows attempt ${higher.highest} of this experiment, the record only attempt ${attempt} ` +
        '(was the store restored from an older copy?)',
    );
    this.highest = higher.highest;
    this.launched = higher.launched;
  }

  /**
   * The number from which the record goes on. A launched attempt is claimed under its own number: its launch then
   * answers that it runs or has ended, and it is followed from its first event, so that nothing is launched twice.
   */
  get goesOnAfter(): number {
    return this.launched ? this.highest - 1 : this.highest;
  }
}

/** What the ray-worker knows above `attempt`; undefined where that is nothing. */
export async function findHigher(
  client: Pick<RayWorkerClient, 'list'>,
  place: { experiment: string; attempt: number },
  signal: AbortSignal,
): Promise<{ highest: number; launched: boolean; running: boolean } | undefined> {
  const known = await client.list(place.experiment, signal);
  const highest = Math.max(0, ...known.map((item) => item.attempt));
  if (highest <= place.attempt) return undefined;
  const launched = known.find((item) => item.attempt === highest && !item.tombstone);
  return { highest, launched: launched !== undefined, running: known.some(({ running }) => running) };
}

/** Throws {@link Outrun} where the cluster knows a higher attempt than this one. */
export async function refuseIfOutrun(story: Story): Promise<void> {
  const { experiment, attempt } = story.lease;
  const higher = await insist(story, 'ask for higher attempts', async () => {
    const client = await story.deps.rayWorkerOf(story.cluster);
    return await findHigher(client, { experiment, attempt }, story.left);
  });
  if (higher) throw new Outrun(higher, attempt);
}

/** Ends what runs under a higher number than the record knows: a cancelled experiment leaves nothing behind. */
export async function stopHigher(
  story: Story,
  options: { gracePeriodMs: number; reason: string },
  signal: AbortSignal,
): Promise<void> {
  const { experiment, attempt } = story.lease;
  const client = await story.deps.rayWorkerOf(story.cluster);
  const higher = await findHigher(client, { experiment, attempt }, signal);
  if (higher?.running) await client.stop(experiment, higher.highest, options, signal);
}
