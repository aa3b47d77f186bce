/** A card of this machine, as nvidia-smi prints it. */
export interface Gpu {
  index: number;
  name: string;
  usedMiB: number;
  totalMiB: number;
  /** Processes that compute on it; in a container those of others are missing. */
  processes: { pid: number; usedMiB: number }[];
}

/** Arguments of nvidia-smi for {@link gpusOf}. */
export const GPU_QUERIES = [
  ['--query-gpu=index,uuid,name,memory.used,memory.total', '--format=csv,noheader,nounits'],
  ['--query-compute-apps=gpu_uuid,pid,used_memory', '--format=csv,noheader,nounits'],
] as const;

/** The cards, from the two answers of nvidia-smi to {@link GPU_QUERIES}. */
export function gpusOf(cards: string, apps: string): Gpu[] {
  const processes = rows(apps).map(([uuid, pid, used]) => ({
    uuid,
    pid: Number(pid),
    usedMiB: Number(used) || 0,
  }));
  return rows(cards).map(([index, uuid, name = '', used, total]) => ({
    index: Number(index),
    name,
    usedMiB: Number(used) || 0,
    totalMiB: Number(total) || 0,
    processes: processes.filter((one) => one.uuid === uuid).map(({ pid, usedMiB }) => ({ pid, usedMiB })),
  }));
}

const rows = (csv: string): string[][] =>
  csv
    .split('\n')
    .filter((line) => line.includes(','))
    .map((line) => line.split(',').map((cell) => cell.trim()));

/** A program that only holds a context takes less. */
const FOREIGN_MIB = 1024;

/** The cards that another program uses, one sentence each. `owner`: the user of a process, if it is visible. */
export function busyCards(gpus: readonly Gpu[], owner: (pid: number) => string | undefined): string[] {
  return gpus
    .filter(({ usedMiB }) => usedMiB > FOREIGN_MIB)
    .map(({ index, usedMiB, processes }) => {
      const who = processes.map(({ pid }) => `process ${pid} of ${owner(pid) ?? 'another user'}`);
      const by = who.length > 0 ? who.join(', ') : 'a program that is not visible from here';
      return `GPU ${index}: ${(usedMiB / 1024).toFixed(1)} GiB by ${by}`;
    });
}
