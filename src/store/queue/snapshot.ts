import { toProjects } from '../access/projects.ts';
import { toAllocations, toClusters } from '../clusters/clusters.ts';
import type { Allocation } from '../clusters/types.ts';
import type { StoreContext } from '../context.ts';
import { QUEUED_FIELDS, queuedOf } from './positions.ts';
import { type createQueue, toLeaving, toPauses, toProjectVersions } from './queue.ts';
import type { Holding, QueueSnapshot, QueueWindow } from './types.ts';

/** MAX queued experiments of one step, so that it does not block the server for long. */
const ROWS_IN_ONE_STEP = 1_024;

type Reply = [
  ms: string,
  clusters: string[],
  seen: string[],
  draining: string[],
  set: string[],
  projects: string[],
  pauses: string[],
  versions: string[],
  allocated: (string | string[])[],
  tooLong: 0 | 1,
  truncated: string[],
  rows: (string | (string | null)[])[],
  leaving: string[],
  freed: (string | string[])[],
];

/** The queue: queued experiments and their order, pauses, wait reasons and estimates. */
export function createSnapshot(
  { run }: Pick<StoreContext, 'run'>,
  { window }: Pick<ReturnType<typeof createQueue>, 'window'>,
) {
  return {
    /**
     * The input of a scheduling round at one moment, with the first `perProject` of each project's queue. A very long window
     * is read after the rest; the versions are then older than it, never newer than the allocations.
     */
    async snapshot(perProject: number): Promise<QueueSnapshot> {
      const reply = (await run('snapshot', [perProject, ROWS_IN_ONE_STEP, ...QUEUED_FIELDS])) as Reply;
      const [ms, clusters, seen, draining, set, projects, pauses, versionList, allocated, tooLong] = reply;
      const versions = pairs(versionList);
      const now = Number(ms);
      const allocations = toHoldings(allocated, versions);
      return {
        now,
        clusters: toClusters(pairs(clusters), {
          now,
          seen: pairs(seen),
          draining,
          set: pairs(set),
        }),
        allocations,
        freed: toFreed(reply[13]),
        projects: toProjects(pairs(projects)),
        pauses: toPauses(pairs(pauses)),
        projectVersions: toProjectVersions(versions),
        leaving: toLeaving(pairs(reply[12])),
        preemptions: Number(versions['preempt:'] ?? 0),
        window: tooLong === 1 ? await window(perProject) : toWindow(reply),
      };
    },
  };
}

function toHoldings(allocated: Reply[8], versions: Record<string, string>): Map<string, Holding> {
  const holdings = new Map<string, Holding>();
  for (let at = 0; at < allocated.length; at += 2) {
    const [name, items] = allocated.slice(at, at + 2) as [string, string[]];
    holdings.set(name, { version: Number(versions[name] ?? 0), items: toAllocations(pairs(items)) });
  }
  return holdings;
}

/** Each ended allocation is `<experiment> <allocation>`. */
function toFreed(all: Reply[13]): Map<string, Allocation[]> {
  const freed = new Map<string, Allocation[]>();
  for (let at = 0; at < all.length; at += 2) {
    const [name, items] = all.slice(at, at + 2) as [string, string[]];
    const parsed = items.flatMap((item) => {
      const end = item.indexOf(' ');
      return toAllocations({ [item.slice(0, end)]: item.slice(end + 1) });
    });
    if (parsed.length > 0) freed.set(name, parsed);
  }
  return freed;
}

function toWindow([ms, , , , , , , , , , truncated, rows]: Reply): QueueWindow {
  const found: { id: string; place: number; row: (string | null)[] }[] = [];
  for (let at = 0; at < rows.length; at += 3) {
    const [id, place, row] = rows.slice(at, at + 3) as [string, string, (string | null)[]];
    found.push({ id, place: Number(place), row });
  }
  found.sort((a, b) => a.place - b.place);
  const queued = found.flatMap(({ id, row }) => queuedOf(id, row, Number(ms)));
  return { queued, truncated: new Set(truncated) };
}

/** A hash from the answer of a script: name and value in turn. */
function pairs(list: readonly string[]): Record<string, string> {
  const hash: Record<string, string> = {};
  for (let at = 0; at < list.length; at += 2) hash[list[at]!] = list[at + 1]!;
  return hash;
}
