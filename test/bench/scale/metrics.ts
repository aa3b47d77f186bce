import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { NumberedEvent } from '../../../src/core/events.ts';
import type { Lease } from '../../../src/store/attempts/types.ts';
import { until } from '../../support/dispatch.ts';
import { running } from '../../support/store.ts';
import { markdownTable, quantile, spreadOf, timed } from '../harness.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { ENDLESS } from './load.ts';
import { LINES_PER_EVENT, type LongRun, logRun, METRICS, metricsRun } from './long-runs.ts';
import type { Outcome, Section } from './section.ts';
import { inMB, setupLine, usedMemory } from './usage.ts';

/*
 * One run with very many metrics, and one with a very long log, each appended as fast as the store takes it, while a
 * dispatcher moves old events to the archive. What is read at each length comes over HTTP.
 */

/** Events in one call of the store, which divides them further. */
const AT_ONCE = 512;
const ROUNDS = 7;

interface Point {
  /** Steps, or lines. */
  length: number;
  perSecond: number;
  /** Bytes of Redis's data and of the archive's files. */
  redis: number;
  archived: number;
  /** The most that Redis's data took since the last point. */
  peak: number;
  /** Milliseconds of each request. */
  times: Record<string, number[]>;
}

/** See {@link Section}. */
export const metrics: Section = async () => {
  await using resources = new AsyncDisposableStack();
  const fleet = await startFleet(resources, ENDLESS);
  const setup = await setupLine(fleet.redis, 'npm run bench -- scale --section metrics --write');
  await fleet.startApi();
  await fleet.startDispatcher();
  const ofMetrics = await grow(fleet, metricsRun);
  const ofLog = await grow(fleet, logRun);
  return toOutcome({ ofMetrics, ofLog, setup });
};

async function grow(fleet: Fleet, run: LongRun): Promise<Point[]> {
  const { store, redis, directory } = fleet;
  const lease = await running(store, { leaseMs: 3_600_000 });
  const before = { redis: await usedMemory(redis), archived: await bytesOf(join(directory, 'archive')) };
  const points: Point[] = [];
  let sequence = 0;
  for (const length of run.lengths) {
    const added = length - (points.at(-1)?.length ?? 0);
    let peak = 0;
    const ms = await timed(async () => {
      while (sequence < length / run.perEvent) {
        sequence = await append(fleet, { lease, run, sequence, end: length / run.perEvent });
        peak = Math.max(peak, (await usedMemory(redis)) - before.redis);
      }
    });
    // Until the dispatcher has moved what is above the limit of a live stream.
    const isShort = async () => (await store.archive.longStreams()).length === 0;
    await until(isShort, 'the stream is short', { seconds: 180 });
    const point = {
      length,
      perSecond: (1000 * added) / ms,
      peak,
      times: await read(fleet, lease, run.reads(length)),
      redis: (await usedMemory(redis)) - before.redis,
      archived: (await bytesOf(join(directory, 'archive'))) - before.archived,
    };
    points.push(point);
    console.log(JSON.stringify(point));
  }
  return points;
}

async function append(
  { store }: Fleet,
  { lease, run, sequence, end }: { lease: Lease; run: LongRun; sequence: number; end: number },
): Promise<number> {
  const events = Array.from({ length: Math.min(AT_ONCE, end - sequence) }, (_event, at): NumberedEvent => {
    const number = sequence + at + 1;
    return { sequence: number, at: Date.now(), event: run.event(number) };
  });
  return await store.events.append(lease, events);
}

async function read({ url, tokens }: Fleet, { experiment }: Lease, reads: Record<string, string>) {
  const headers = { authorization: `Bearer ${tokens[0]}` };
  const times: Record<string, number[]> = {};
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, path] of Object.entries(reads)) {
      const ms = await timed(async () => {
        const response = await fetch(`${url}/v1/experiments/${experiment}/${path}`, { headers });
        const text = await response.text();
        if (!response.ok) throw new Error(`${response.status}: ${text}`);
      });
      if (round >= 0) times[name] = [...(times[name] ?? []), ms]; // the first warms all
    }
  }
  return times;
}

async function bytesOf(directory: string): Promise<number> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => stat(join(parentPath, name)).then(({ size }) => size));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function tableOf(points: readonly Point[], what: string): string {
  const row = (name: string, cell: (point: Point) => string) => [name, ...points.map(cell)];
  const names = Object.keys(points[0]!.times);
  return markdownTable(
    [what, ...points.map(({ length }) => length.toLocaleString('en'))],
    [
      row(`${what} appended a second`, ({ perSecond }) => perSecond.toFixed(0)),
      row(
        'data in Redis, MB (most while appending)',
        ({ redis, peak }) => `${inMB(redis, 1)} (${inMB(peak, 1)})`,
      ),
      row('files of the archive, MB', ({ archived }) => inMB(archived, 1)),
      ...names.map((name) => row(`${name}, ms`, ({ times }) => spreadOf(times[name]!, 1))),
    ],
  );
}

function toOutcome(runs: { ofMetrics: Point[]; ofLog: Point[]; setup: string }): Outcome {
  const { ofMetrics, ofLog, setup } = runs;
  const last = { metrics: ofMetrics.at(-1)!, log: ofLog.at(-1)! };
  const bytes = last.metrics.redis / (last.metrics.length * METRICS);
  const median = (point: Point) => quantile(Object.values(point.times)[0]!, 0.5).toFixed(1);
  const text = `${setup}

One run with ${METRICS} metrics a step, and one whose log events have ${LINES_PER_EVENT} lines each, appended by one writer as fast as the store takes them. The
dispatcher moves the oldest events of a stream above 8 MB to the archive every 30 s, so the most that Redis takes depends on the rate; memory and
requests (to one api) were measured when it had done so.

${tableOf(ofMetrics, 'steps')}

${tableOf(ofLog, 'lines')}

A chart of one metric takes ${median(ofMetrics[0]!)} ms at ${ofMetrics[0]!.length.toLocaleString('en')} steps and ${median(last.metrics)} ms at ${last.metrics.length.toLocaleString('en')}; the end of the log takes ${median(ofLog[0]!)} ms at ${ofLog[0]!.length.toLocaleString('en')} lines and
${median(last.log)} ms at ${last.log.length.toLocaleString('en')}. Redis memory ends the first curve: ${bytes.toFixed(1)} B a value. Redis memory ends the second as well: until
the next round of the dispatcher, Redis holds up to 30 s of a log (the lines are the same here, so the archive compresses them well).`;
  return { text, figures: { bytesPerValue: bytes, linesPerSecond: last.log.perSecond } };
}
