import { setTimeout as pause } from 'node:timers/promises';
import type { RoleProcess } from '../../support/system.ts';
import { markdownTable, quantile } from '../harness.ts';
import { type KeyGroups, keyGroups, shownGroups } from './census.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { projectOf } from './load.ts';
import type { Outcome, Section } from './section.ts';
import { slopeOf } from './slope.ts';
import { STEADY, startSteadyLoad } from './steady-load.ts';
import { inMB, setupLine, usageOf, usedMemory } from './usage.ts';

/*
 * A steady load over hours. Whatever grows for another reason than the records that retention keeps is a leak. Most
 * experiments belong to a project that retains nothing, the others to one with the default retention.
 */

const SAMPLE_MS = 60_000;
/** A short trial has as many samples at least. */
const MIN_SAMPLES = 30;
/** The share of the time after which slopes are fitted, and its most. */
const WARM_UP = 1 / 4;
const MAX_WARM_UP_MS = 30 * 60_000;
const HOUR_MS = 3_600_000;

interface Sample {
  at: number;
  /** Bytes by process, and of Redis's data. */
  bytes: Record<string, number>;
  cpuMs: Record<string, number>;
  running: number;
}

/** See {@link Section}. */
export const soak: Section = async ({ minutes }) => {
  await using resources = new AsyncDisposableStack();
  const { steps, delayMs } = STEADY;
  const fleet = await startFleet(resources, { steps, delayMs, stages: false, logLines: 1 });
  await fleet.store.projects.create(projectOf('expired', { recordsDays: 0 }));
  await fleet.store.projects.create(projectOf('retained'));
  const command = `npm run bench -- scale --section soak --minutes ${minutes} --write`;
  const setup = await setupLine(fleet.redis, command);
  const parts = { api: await fleet.startApi(), dispatcher: await fleet.startDispatcher() };
  const stop = endOf(minutes * 60_000);
  const load = startSteadyLoad(fleet, stop);
  const { samples, warm } = await observe(fleet, parts, { stop, ms: minutes * 60_000 });
  await load.done;
  const end = await keyGroups(fleet.redis);
  return toOutcome({ samples, warm, end, setup, counts: load.counts });
};

/** Aborts after `ms`, or earlier at SIGTERM or SIGINT: what was measured until then counts. */
function endOf(ms: number): AbortSignal {
  const told = new AbortController();
  process.once('SIGTERM', () => told.abort()).once('SIGINT', () => told.abort());
  return AbortSignal.any([AbortSignal.timeout(ms), told.signal]);
}

async function observe(
  fleet: Fleet,
  parts: Record<string, RoleProcess>,
  { stop, ms }: { stop: AbortSignal; ms: number },
): Promise<{ samples: Sample[]; warm: { at: number; groups: KeyGroups } }> {
  const everyMs = Math.min(SAMPLE_MS, ms / MIN_SAMPLES);
  const begun = performance.now();
  const samples: Sample[] = [];
  let warm: { at: number; groups: KeyGroups } | undefined;
  while (!stop.aborted) {
    await pause(everyMs, undefined, { signal: stop }).catch(() => {});
    const processes = { ...parts, 'redis-server': { pid: fleet.server.pid() } };
    const used = Object.entries(processes).map(([name, { pid }]) => [name, usageOf(pid)] as const);
    samples.push({
      at: performance.now() - begun,
      bytes: {
        ...Object.fromEntries(used.map(([name, { rss }]) => [name, rss])),
        'data in Redis': await usedMemory(fleet.redis),
      },
      cpuMs: Object.fromEntries(used.map(([name, { cpuMs }]) => [name, cpuMs])),
      running: (await fleet.store.experiments.counts()).running,
    });
    if (warm === undefined && performance.now() - begun >= Math.min(ms * WARM_UP, MAX_WARM_UP_MS))
      warm = { at: performance.now() - begun, groups: await keyGroups(fleet.redis) };
  }
  return { samples, warm: warm ?? { at: 0, groups: new Map() } };
}

interface Soaked {
  samples: readonly Sample[];
  warm: { at: number; groups: KeyGroups };
  end: KeyGroups;
  setup: string;
  counts: Readonly<Record<string, number>>;
}

function toOutcome({ samples, warm, end, setup, counts }: Soaked): Outcome {
  const after = samples.filter(({ at }) => at >= warm.at);
  const [first, last] = [after[0]!, after.at(-1)!];
  const hours = (last.at - first.at) / HOUR_MS;
  const slopes = new Map(
    Object.keys(first.bytes).map((name) => [
      name,
      slopeOf(after.map(({ at, bytes }) => [at / HOUR_MS, bytes[name]! / 1e6])),
    ]),
  );
  const share = (name: string) => (100 * (last.cpuMs[name]! - first.cpuMs[name]!)) / (last.at - first.at);
  const rows = [...slopes].map(([name, { slope, error }]) => [
    name,
    inMB(
      quantile(
        after.map(({ bytes }) => bytes[name]!),
        0.5,
      ),
      1,
    ),
    `${inMB(first.bytes[name]!, 1)} → ${inMB(last.bytes[name]!, 1)}`,
    `${slope.toFixed(2)} ± ${(2 * error).toFixed(2)}`,
    Object.hasOwn(last.cpuMs, name) ? share(name).toFixed(1) : '',
  ]);
  const cpu = Object.keys(last.cpuMs).reduce((sum, name) => sum + share(name), 0);
  const groups = shownGroups(warm.groups, end, hours);
  const retained = groups.retainedMBPerHour;
  const data = slopes.get('data in Redis')!;
  const done = Object.entries(counts).map(([what, count]) => `${count.toLocaleString('en')} ${what}`);
  const text = `${setup}

${(last.at / 60_000).toFixed(0)} minutes: ${done.join(', ')}; ${quantile(
    after.map(({ running }) => running),
    0.5,
  )} running at a time, one event of metrics and one line of
log a second each; ${STEADY.followers} followers. Nine of ten experiments belong to a project that retains nothing, the others to one with the default
retention. All parts together took ${cpu.toFixed(1)} % of a core. Memory was sampled ${samples.length} times; slopes are fitted to the ${after.length} samples after the
first ${(warm.at / 60_000).toFixed(0)} minutes, with twice their standard error.

${markdownTable(['part', 'median, MB', 'first → last, MB', 'slope, MB/h', '% of a core'], rows)}

Data in Redis by kind of key, from the end of the warm-up to the end (${hours.toFixed(2)} h). Records of ended experiments that are retained account
for ${retained.toFixed(2)} of the ${data.slope.toFixed(2)} MB/h.

${groups.table}`;
  return {
    text,
    figures: { redisMBPerHour: data.slope, redisError: 2 * data.error, retainedMBPerHour: retained, cpu },
  };
}
