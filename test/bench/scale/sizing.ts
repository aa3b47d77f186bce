import { markdownTable } from '../harness.ts';

/** The figures of every section of the page, by its name. */
export type Figures = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** Loads, each ten times the one before. */
const LOADS = [
  { running: 100, queued: 10_000, followers: 100 },
  { running: 1_000, queued: 100_000, followers: 1_000 },
  { running: 10_000, queued: 1_000_000, followers: 10_000 },
];
/** A process is planned for so much of its core, so that a takeover or a burst has room. */
const PLANNED = 50;
/** Event streams that an api opens at most. */
const STREAMS = 4_000;

/** What a service needs for each of some loads, from the measured figures; undefined until they are all there. */
export function sizing(figures: Figures): string | undefined {
  const [running, queued, followers] = ['running', 'queued', 'followers'].map((name) => figures.get(name));
  if (!running || !queued || !followers) return undefined;
  const { cpuPer100, redisCpuPer100, redisKB } = running as Record<string, number>;
  const rows = LOADS.map((load) => {
    const dispatching = (load.running * cpuPer100!) / 100;
    const writing = (load.followers * followers.cpuPer1000!) / 1_000;
    const redisCpu = (load.running * redisCpuPer100!) / 100;
    const bytes = load.queued * queued.bytes! + load.running * redisKB! * 1_000;
    const api = Math.max(Math.ceil(writing / PLANNED), Math.ceil(load.followers / STREAMS));
    return [
      ...[load.running, load.queued, load.followers].map((count) => count.toLocaleString('en')),
      `${Math.ceil(dispatching / PLANNED)} (${dispatching.toFixed(0)} % of a core)`,
      `${api} (${writing.toFixed(0)} % of a core)`,
      `${redisCpu.toFixed(0)} % of a core${redisCpu > 100 ? ': too much for one Redis' : ''}`,
      `${(bytes / 1e9).toFixed(2)} GB`,
    ];
  });
  const head = ['running', 'queued', 'followers', 'dispatchers', 'apis', 'Redis, CPU', 'Redis, memory'];
  return `Each load is ten times the one before. A process is planned for ${PLANNED} % of its core.

${markdownTable(head, rows)}

- dispatchers = running × ${cpuPer100!.toFixed(2)} % / 100 / ${PLANNED} %, rounded up. One more survives the loss of one.
- apis = followers × ${followers.cpuPer1000!.toFixed(1)} % / 1,000 / ${PLANNED} %, rounded up, and at least followers / ${STREAMS.toLocaleString('en')}, the most event streams of an api.
- Redis, CPU = running × ${redisCpuPer100!.toFixed(2)} % / 100. Redis executes on one core, so its curve ends at about ${Math.round(10_000 / redisCpuPer100!).toLocaleString('en')} running attempts with an event a second.
- Redis, memory = queued × ${queued.bytes!.toFixed(0)} B + running × ${redisKB!.toFixed(1)} kB. The event streams of running experiments grow to 8 MB each
  before their oldest events move to the archive; ended experiments and metrics come on top (see above). Set \`maxmemory\` to at least 1.5 times the sum: the store
  accepts no new work above 70 % of it.`;
}
