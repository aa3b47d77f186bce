import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/** A family of keys as docs/reference/redis-keys.md lists it. */
export interface KeyFamily {
  /** Behind the root, with placeholders: `x:<experiment>:events`. */
  name: string;
  type: string;
  goes: 'with the record' | 'with the stream' | 'with the sweep' | 'empties' | 'expires' | 'stays';
}

const GOES = /^(with the record|with the stream|with the sweep|empties: .+|expires: .+|stays: .+)$/;

/** The patterns of placeholders. */
const PLACES: Readonly<Record<string, string>> = {
  '<experiment>': 'exp-[0-9a-z]{20}',
  '<subscription>': 'sub-[0-9a-z]{20}',
  '<sweep>': 'swp-[0-9a-z]{20}',
  '<command>': 'cmd-[0-9a-z]{20}',
  '<digest>': '[0-9a-f]{64}',
  '<state>': '(queued|launching|running|cancelling|succeeded|failed|cancelled)',
  '<stage>': '(batches|streams|records)',
  '<step>': '\\d+',
  '<day>': '\\d+',
  '<project>': '[a-z0-9-]+',
  '<cluster>': '[a-z0-9-]+',
  '<caller>': '[a-z0-9-]+',
  '<dispatcher>': '[\\w.-]+',
};

/** The table of docs/reference/redis-keys.md. */
export function documentedKeys(): KeyFamily[] {
  const rows = readFileSync(new URL('../../docs/reference/redis-keys.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  return rows.map((row) => {
    const [, name, type, , goes] = row.split('|').map((cell) => cell.trim());
    if (!GOES.test(goes!))
      throw new Error(`docs/reference/redis-keys.md does not say when ${name} goes: ${goes}`);
    return {
      name: name!.slice(1, -1),
      type: type!,
      goes: goes!.split(':')[0] as KeyFamily['goes'],
    };
  });
}

/** The family of a key (without the root); undefined: the list has none. Names come before placeholders. */
export function familyOf(families: readonly KeyFamily[], key: string): KeyFamily | undefined {
  const exact = families.find(({ name }) => name === key);
  return exact ?? families.find(({ name }) => new RegExp(`^${withPlaces(name)}$`).test(key));
}

function withPlaces(name: string): string {
  return name.replace(/<[a-z]+>/g, (place) => PLACES[place] ?? place);
}

/** Every key below `{echelon}:`, without it; BullMQ's own keys are omitted. */
export async function everyKey(redis: Redis): Promise<string[]> {
  const found = new Set<string>();
  for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1000);
    for (const key of keys) found.add(key.replace(/^\{echelon\}:/, ''));
    cursor = next;
  }
  return [...found].filter((key) => !key.startsWith('bull:'));
}

/** Keys that have the text in their name, a member, a field or a value; streams by their names alone. */
export async function everyKeyWith(redis: Redis, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const content = await contentOf(redis, key);
    if (key.includes(text) || content.some((part) => part.includes(text))) found.push(key);
  }
  return found.sort();
}

async function contentOf(redis: Redis, key: string): Promise<string[]> {
  switch (await redis.type(key)) {
    case 'zset':
      return await redis.zrange(key, '0', '-1');
    case 'set':
      return await redis.smembers(key);
    case 'hash':
      return Object.entries(await redis.hgetall(key)).flat();
    case 'list':
      return await redis.lrange(key, 0, -1);
    case 'string':
      return [(await redis.get(key)) ?? ''];
    default:
      return [];
  }
}
