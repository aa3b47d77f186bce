import { setTimeout as pause } from 'node:timers/promises';
import type { RoleProcess } from '../../support/system.ts';
import { markdownTable } from '../harness.ts';
import { startFleet } from './fleet.ts';
import { type Inspector, inspect, type Objects } from './inspector.ts';
import { projectOf } from './load.ts';
import type { Outcome, Section } from './section.ts';
import { slopeOf } from './slope.ts';
import { STEADY, startSteadyLoad } from './steady-load.ts';
import { inMB, setupLine, usageOf } from './usage.ts';

/*
 * What grows in the api and in the dispatcher besides garbage: the steady load, faster, with all garbage collected before
 * each sample, and the heap's objects after the warm-up beside those at the end.
 */

/** Times the steady load. */
const PACE = 4;
const SAMPLE_MS = 30_000;
const WARM_UP = 1 / 3;
const HOUR_MS = 3_600_000;
const SHOWN = 12;
/** Less growth is not shown. */
const MIN_BYTES = 1_000;

interface Sample {
  at: number;
  heap: number;
  buffers: number;
  rss: number;
}
interface Watched {
  name: string;
  role: RoleProcess;
  inspector: Inspector;
  samples: Sample[];
  warm: Map<string, Objects>;
}

/** See {@link Section}. */
export const heap: Section = async ({ minutes }) => {
  await using resources = new AsyncDisposableStack();
  const { steps, delayMs } = STEADY;
  const driver = { steps, delayMs: delayMs / PACE, stages: false, logLines: 1 };
  const fleet = await startFleet(resources, driver, { variables: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
  await fleet.store.projects.create(projectOf('expired', { recordsDays: 0 }));
  await fleet.store.projects.create(projectOf('retained'));
  const setup = await setupLine(
    fleet.redis,
    `npm run bench -- scale --section heap --minutes ${minutes} --write`,
  );
  const roles = { api: await fleet.startApi(), dispatcher: await fleet.startDispatcher() };
  const watched: Watched[] = [];
  for (const [name, role] of Object.entries(roles)) {
    const inspector = resources.use(await inspect(role.log()));
    watched.push({ name, role, inspector, samples: [], warm: new Map() });
  }
  const stop = AbortSignal.timeout(minutes * 60_000);
  const load = startSteadyLoad(fleet, stop, PACE);
  const submittedWarm = await observe(watched, {
    stop,
    ms: minutes * 60_000,
    submitted: () => load.counts.submitted!,
  });
  const submitted = load.counts.submitted! - submittedWarm;
  await load.done;
  const grown = [];
  for (const one of watched)
    grown.push({ name: one.name, rows: grownRows(one.warm, await one.inspector.objects()) });
  return toOutcome({ watched, grown, setup, minutes, submitted, failed: load.counts['requests failed']! });
};

/** Samples every process until `stop`; gives the number of experiments that were submitted in the warm-up. */
async function observe(
  watched: readonly Watched[],
  { stop, ms, submitted }: { stop: AbortSignal; ms: number; submitted: () => number },
): Promise<number> {
  const begun = performance.now();
  let warm: number | undefined;
  while (!stop.aborted) {
    await pause(Math.min(SAMPLE_MS, ms / 30), undefined, { signal: stop }).catch(() => {});
    const ends = warm === undefined && performance.now() - begun >= ms * WARM_UP;
    if (ends) warm = submitted();
    for (const one of watched) {
      // Before the first sample: it enlarges the process.
      if (ends) one.warm = await one.inspector.objects();
      const used = await one.inspector.usedAfterCollection();
      const sample = { at: performance.now() - begun, ...used, rss: usageOf(one.role.pid).rss };
      if (warm !== undefined) one.samples.push(sample);
    }
  }
  return warm ?? 0;
}

function grownRows(before: ReadonlyMap<string, Objects>, after: ReadonlyMap<string, Objects>): string[][] {
  return [...after]
    .map(([name, { count, bytes }]) => {
      const first = before.get(name) ?? { count: 0, bytes: 0 };
      return { name, count, more: count - first.count, bytes: bytes - first.bytes };
    })
    .filter(({ bytes }) => bytes >= MIN_BYTES)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, SHOWN)
    .map(({ name, count, more, bytes }) => [
      `\`${name.slice(0, 60)}\``,
      count.toLocaleString('en'),
      `${more >= 0 ? '+' : ''}${more.toLocaleString('en')}`,
      (bytes / 1e3).toFixed(1),
    ]);
}

interface Observed {
  watched: readonly Watched[];
  grown: readonly { name: string; rows: string[][] }[];
  setup: string;
  minutes: number;
  submitted: number;
  failed: number;
}

function toOutcome({ watched, grown, setup, minutes, submitted, failed }: Observed): Outcome {
  const figures: Record<string, number> = {};
  const rows = watched.flatMap(({ name, samples }) =>
    (['heap', 'buffers', 'rss'] as const).map((what) => {
      const { slope, error } = slopeOf(samples.map((sample) => [sample.at / HOUR_MS, sample[what] / 1e6]));
      figures[`${name}-${what}`] = slope;
      const [first, last] = [samples[0]!, samples.at(-1)!];
      const perExperiment = (slope * 1e6 * (last.at - first.at)) / HOUR_MS / submitted;
      return [
        `${name}, ${what}`,
        `${inMB(first[what], 2)} → ${inMB(last[what], 2)}`,
        `${slope.toFixed(2)} ± ${(2 * error).toFixed(2)}`,
        perExperiment.toFixed(0),
      ];
    }),
  );
  const tables = grown.map(
    ({ name, rows }) =>
      `Objects of the ${name} that grew most from the warm-up to the end:\n\n${markdownTable(['constructor', 'objects', 'growth', 'growth, kB'], rows)}`,
  );
  const text = `${setup}

${minutes} minutes of ${PACE} times the load of the soak. All garbage was collected before each of ${watched[0]!.samples.length} samples after the first
third; slopes have twice their standard error. ${submitted.toLocaleString('en')} experiments were submitted meanwhile, ${failed} requests failed.
The processes of the soak may grow faster: their garbage is collected only when the runtime decides so. Live objects grow by these slopes.

${markdownTable(['part', 'first → last, MB', 'slope, MB/h', 'bytes per experiment'], rows)}

${tables.join('\n\n')}`;
  return { text, figures };
}
