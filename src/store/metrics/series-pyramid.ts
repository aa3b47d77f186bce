/*
 * The same algorithm as `metrics/lua/read-series.lua` for a pyramid in memory: the archived series of a finished
 * experiment. `redis/lua/series.lua` has the layout and the names of fields.
 */
const AGGREGATE_BYTES = 64;
const [LEAF, BLOCK, FAN] = [32, 16, 4];

/** A read of one metric in one attempt. */
export interface PyramidQuery {
  attempt: number;
  /** Number of the metric. */
  metric: string;
  from: number;
  to: number;
  resolution: number;
}

/** The finest level that keeps the answer small, its blocks, and the blocks of lower levels that it does not cover. */
export function readPyramid(
  fields: ReadonlyMap<string, Buffer>,
  { attempt, metric, from, to, resolution }: PyramidQuery,
): [number, ...Buffer[]] {
  const name = `${attempt}:${metric}`;
  const head = fields.get(`h${name}`);
  if (head === undefined) return [0];
  const count = (level: number) =>
    head.length >= (level + 2) * 4 ? head.readUInt32LE((level + 1) * 4) : undefined;
  const blockAt = (level: number, n: number) => fields.get(`b${name}:${level}:${n}`) ?? Buffer.alloc(0);
  for (let level = 0; ; level++) {
    const blocks = level === 0 ? count(0)! : Math.ceil(count(level)! / BLOCK);
    const low = search(blocks, (n) => lastStep(level, blockAt(level, n)) >= from);
    const high = search(blocks, (n) => firstStep(level, blockAt(level, n)) > to);
    const items = (high - low) * (level === 0 ? head.readUInt32LE(0) / blocks : BLOCK);
    const max = (level === 0 ? LEAF : FAN) * resolution + 2 * BLOCK;
    if (items > max && count(level + 1) !== undefined) continue;
    const answer: [number, ...Buffer[]] = [level];
    for (let n = low; n < high; n++) answer.push(blockAt(level, n));
    for (let below = level - 1; below >= 1; below--) {
      const fill = count(below)! % BLOCK;
      if (fill > 0) answer.push(blockAt(below, (count(below)! - fill) / BLOCK));
    }
    return answer;
  }
}

function firstStep(level: number, block: Buffer): number {
  return block.readUInt32LE(level === 0 ? 1 : 0);
}

function lastStep(level: number, block: Buffer): number {
  if (level > 0) return block.readUInt32LE(block.length - AGGREGATE_BYTES + 4);
  if (block[0] === 0) return block.readUInt32LE(1 + ((block.length - 1) / 12 - 1) * 4);
  return block.readUInt32LE(1) + block.readUInt32LE(5) * ((block.length - 9) / 8 - 1);
}

/** The smallest n of [0, count) for which `isAt` holds; count if there is none. `isAt` changes once, from false to true. */
function search(count: number, isAt: (n: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAt(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
