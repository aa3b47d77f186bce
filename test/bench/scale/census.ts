import type { Redis } from 'ioredis';
import { runAll } from '../../../src/store/redis/errors.ts';
import { markdownTable } from '../harness.ts';

/** Keys by kind: their name without ids. */
export type KeyGroups = ReadonlyMap<string, { keys: number; bytes: number; entries: number }>;

/** Kinds that are shown at most. */
const SHOWN = 14;
/** Keys in one step. */
const AT_ONCE = 500;

const SIZES: Record<string, string> = {
  zset: 'zcard',
  set: 'scard',
  hash: 'hlen',
  stream: 'xlen',
  list: 'llen',
};

/** Every key of a server with its memory. */
export async function keyGroups(redis: Redis): Promise<KeyGroups> {
  const groups = new Map<string, { keys: number; bytes: number; entries: number }>();
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', AT_ONCE);
    cursor = next;
    const asked = redis.pipeline();
    for (const key of keys) asked.call('MEMORY', 'USAGE', key, 'SAMPLES', '0').type(key);
    const replies = await runAll(asked);
    const sized = redis.pipeline();
    for (const at of keys.keys()) {
      const command = SIZES[replies[2 * at + 1] as string] ?? 'exists';
      sized.call(command, keys[at]!);
    }
    const sizes = await runAll(sized);
    for (const [at, key] of keys.entries()) {
      const name = key.replace(/(exp|swp|cmd)-[0-9a-z]{20}/g, 'ID').replace(/^\{[^}]*\}:/, '');
      const group = groups.get(name) ?? { keys: 0, bytes: 0, entries: 0 };
      groups.set(name, group);
      group.keys += 1;
      group.bytes += Number(replies[2 * at] ?? 0);
      group.entries += Number(sizes[at] ?? 0);
    }
  } while (cursor !== '0');
  return groups;
}

/** The kinds that grew most, and how much of the growth belongs to the records of experiments. */
export function shownGroups(
  before: KeyGroups,
  after: KeyGroups,
  hours: number,
): { table: string; retainedMBPerHour: number } {
  const grown = [...after].map(([name, { keys, bytes, entries }]) => {
    const was = before.get(name) ?? { keys: 0, bytes: 0, entries: 0 };
    return {
      name,
      keys,
      entries,
      bytes,
      more: bytes - was.bytes,
      moreKeys: keys - was.keys,
      moreEntries: entries - was.entries,
    };
  });
  grown.sort((a, b) => b.more - a.more || b.bytes - a.bytes);
  const rows = grown
    .slice(0, SHOWN)
    .map(({ name, ...group }) => [
      `\`${name}\``,
      `${group.keys} (${signed(group.moreKeys)})`,
      `${group.entries} (${signed(group.moreEntries)})`,
      (group.bytes / 1000).toFixed(1),
      (group.more / 1000 / hours).toFixed(1),
    ]);
  const retained = grown
    .filter(({ name }) => name.startsWith('x:ID'))
    .reduce((sum, { more }) => sum + more, 0);
  return {
    table: markdownTable(
      ['keys', 'number (growth)', 'entries (growth)', 'kB at the end', 'growth, kB/h'],
      rows,
    ),
    retainedMBPerHour: retained / 1e6 / hours,
  };
}

const signed = (value: number) => (value > 0 ? `+${value}` : String(value));
