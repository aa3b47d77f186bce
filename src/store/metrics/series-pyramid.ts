import { decodeBlock, encodeBlock } from './series-blocks.ts';
import { type Item, join } from './series-items.ts';

/*
 * The compacted values of a metric in an attempt: blocks of points, and a pyramid of aggregates over them. LEAF points
 * make an aggregate of level 1, FAN aggregates one of the next level; an incomplete group has none. So an item never
 * changes, and blocks only grow: a reader with an older head takes the items that the head counts.
 *
 *   i<attempt>:<metric>              head: number of points (4), then first and last step (4 each) of each block of points
 *   c<attempt>:<metric>:<level>:<n>  block n of a level; level 0: points
 */
const [POINTS, AGGREGATES] = [1024, 256];
const [LEAF, FAN] = [64, 8];

/** The number of points, and the first and last step of each block of points. */
export interface Head {
  count: number;
  steps: (readonly [number, number])[];
}

/** Some consecutive items of a block. */
interface Part {
  field: string;
  level: number;
  from: number;
  to: number;
}

const capacity = (level: number) => (level === 0 ? POINTS : AGGREGATES);
const fan = (level: number) => (level === 0 ? LEAF : FAN);
/** Points of an item. */
const span = (level: number) => (level === 0 ? 1 : LEAF * FAN ** (level - 1));
const countAt = (level: number, points: number) => Math.floor(points / span(level));

/** The field of the head; `name` is `<attempt>:<metric>`. */
export const headField = (name: string): string => `i${name}`;
const blockField = (name: string, level: number, n: number) => `c${name}:${level}:${n}`;

/** A stored head; absent: no points. */
export function readHead(bytes: Buffer | null | undefined): Head {
  const numbers = Array.from({ length: (bytes?.length ?? 0) / 4 }, (_, at) => bytes!.readUInt32LE(at * 4));
  const steps: Head['steps'] = [];
  for (let at = 1; at < numbers.length; at += 2) steps.push([numbers[at]!, numbers[at + 1]!]);
  return { count: numbers[0] ?? 0, steps };
}

function writeHead({ count, steps }: Head): Buffer {
  const numbers = [count, ...steps.flat()];
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, at * 4);
  return bytes;
}

/**
 * The parts to read for the points between two steps, in their order: of the finest level that keeps the answer small,
 * then of finer levels for the last points.
 */
export function partsOf(
  name: string,
  { count, steps }: Head,
  { from, to, resolution }: { from: number; to: number; resolution: number },
): Part[] {
  const low = steps.findIndex(([, last]) => last >= from) * POINTS;
  const high = Math.min(count, (steps.findLastIndex(([first]) => first <= to) + 1) * POINTS);
  if (low < 0 || high <= low) return [];
  let level = 0;
  while (countAt(level, high - low) > fan(level) * (resolution + 1) && countAt(level + 1, count) > 0) level++;
  const parts: Part[] = [];
  for (let covered = low; covered < high; level--) {
    const end = Math.min(countAt(level, count), Math.ceil(high / span(level)));
    for (let at = Math.floor(covered / span(level)); at < end; ) {
      const n = Math.floor(at / capacity(level));
      const start = n * capacity(level);
      const stop = Math.min(end, start + capacity(level));
      parts.push({ field: blockField(name, level, n), level, from: at - start, to: stop - start });
      at = stop;
    }
    covered = Math.max(covered, end * span(level));
  }
  return parts;
}

/** The items of a part. */
export function itemsOf({ level, from, to }: Part, block: Buffer): Item[] {
  return decodeBlock(block, level === 0).slice(from, to);
}

/** The fields of the incomplete blocks, which {@link extend} continues. */
export function openBlocks(name: string, { count }: Head): string[] {
  const fields: string[] = [];
  for (let level = 0; countAt(level, count) > 0; level++) {
    const items = countAt(level, count);
    if (items % capacity(level) > 0)
      fields.push(blockField(name, level, Math.floor(items / capacity(level))));
  }
  return fields;
}

/** The fields to write for further points: head and blocks. `open`: the incomplete blocks by their fields. */
export function extend(
  name: string,
  { count, steps }: Head,
  { points, open }: { points: readonly Item[]; open: ReadonlyMap<string, Buffer> },
): [string, Buffer][] {
  const fields: [string, Buffer][] = [];
  let head: Head = { count: count + points.length, steps };
  let added = points;
  for (let level = 0; added.length > 0; level++) {
    const before = countAt(level, count);
    const first = Math.floor(before / capacity(level));
    const block = open.get(blockField(name, level, first));
    const items = [...(block === undefined ? [] : decodeBlock(block, level === 0)), ...added];
    const blocks = chunksOf(items, capacity(level));
    for (const [at, some] of blocks.entries())
      fields.push([blockField(name, level, first + at), encodeBlock(some, level === 0)]);
    if (level === 0) head = { ...head, steps: [...steps.slice(0, first), ...blocks.map(stepsOf)] };
    const grouped = countAt(level + 1, count) * fan(level) - first * capacity(level);
    added = chunksOf(items.slice(grouped), fan(level))
      .filter(({ length }) => length === fan(level))
      .map((group) => group.reduce(join));
  }
  return [[headField(name), writeHead(head)], ...fields];
}

function stepsOf(items: readonly Item[]): [number, number] {
  return [Math.min(...items.map(({ from }) => from)), Math.max(...items.map(({ to }) => to))];
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}
