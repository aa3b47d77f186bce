import type { ExperimentsQueue } from '../../queue/experiments-queue.ts';
import { MAX_PREEMPTIONS, PREEMPT_WITHIN_MS } from '../../scheduler/preemption.ts';
import type { Start } from '../../scheduler/schedule.ts';
import { canonicalJson } from '../../schemas/json.ts';
import type { AllocationInput } from '../../store/attempts/types.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import { createRoundDecider, type Elapsed, type RoundDecision } from './round-decision.ts';
import { createWaitNotes } from './wait-notes.ts';

/*
 * A scheduling round decides which queued experiments start, allocates GPUs and CPUs to them in one step of the store, and
 * releases their jobs: any dispatcher, this one included, may receive a job and launch the experiment.
 *
 * Every dispatcher makes rounds. The store refuses an allocation that was decided on an outdated state.
 */

/** Maximum number of starts of one round: Redis is blocked while it allocates, for a few ms. */
const MAX_STARTS = 32;

/** Runs scheduling rounds, one at a time. Call `poke` when the queue or the capacity has changed. */
export function createSchedulingRounds(deps: {
  store: Store;
  queue: Pick<ExperimentsQueue, 'release'>;
  /** Time between two rounds without a wake-up. */
  everyMs: number;
  elapsed: Elapsed;
  /** How long preempted experiments have to stop. Default: 5 minutes. */
  preemptWithinMs?: number | undefined;
  log: Log;
}): Loop {
  const { store, queue, elapsed, everyMs, log, preemptWithinMs = PREEMPT_WITHIN_MS } = deps;
  const decide = createRoundDecider({ store, elapsed, preemptWithinMs });
  const note = createWaitNotes({ store, elapsed });
  let stopped = false;

  async function round(): Promise<void> {
    const decision = await decide();
    if (!stopped) await preempt(decision);
    const again = stopped ? false : await allocateAll(decision);
    await note(decision);
    await recordAsks(decision, store);
    if (again) loop.poke();
  }

  /** Allocates to the first experiments that start, and releases their jobs. True: another round may start more. */
  async function allocateAll(decision: RoundDecision): Promise<boolean> {
    const { start } = decision.schedule;
    const starts = start.slice(0, MAX_STARTS).map((one) => toAllocation(one, decision));
    const outcomes = await store.attempts.allocate(starts);
    const allocated = starts.filter((_, at) => outcomes[at] === 'allocated');
    await Promise.all(allocated.map(({ experiment }) => release(experiment)));
    if (outcomes.includes('not-queued')) return true;
    // After `changed`, the dispatcher that made the change starts the experiments or sends a wake-up.
    return start.length > MAX_STARTS && !outcomes.includes('changed');
  }

  /** Preempts for the first experiment that starts by it; the next round decides anew about others. */
  async function preempt({ schedule, versions, preemptions }: RoundDecision): Promise<void> {
    const [first] = schedule.preempt;
    if (first === undefined) return;
    const allocationVersion = versions.get(first.cluster) ?? 0;
    const limits = { withinMs: preemptWithinMs, maxTimes: MAX_PREEMPTIONS };
    const count = await store.attempts.preempt({ ...first, ...limits, allocationVersion, preemptions });
    if (count > 0) log.info({ ...first }, 'preempted experiments');
  }

  async function release(experiment: string): Promise<void> {
    await queue.release(experiment).catch((err: unknown) => {
      log.warn({ err, experiment }, 'cannot release the job of an allocated experiment yet');
    });
  }

  const loop = createLoop({ name: 'scheduling', everyMs, run: round, log });
  return {
    ...loop,
    async stop() {
      stopped = true;
      await loop.stop();
    },
  };
}

/** Records what the ray-workers are to ask their autoscalers for; the refresh of clusters tells them. */
async function recordAsks({ input, schedule }: RoundDecision, store: Store): Promise<void> {
  for (const { name, answering, nodeTypes = [], asked } of input.clusters) {
    if (!answering || (nodeTypes.length === 0 && asked === undefined)) continue;
    const ask = schedule.asks.get(name) ?? { bundles: [], nodes: [], since: 0 };
    if (canonicalJson(ask) !== canonicalJson(asked ?? null)) await store.clusters.ask(name, ask);
  }
}

function toAllocation(start: Start, { versions, projectVersions }: RoundDecision): AllocationInput {
  const projectVersion = projectVersions.get(start.project);
  return {
    ...start,
    allocationVersion: versions.get(start.cluster) ?? 0,
    ...(projectVersion !== undefined && { projectVersion }),
  };
}
