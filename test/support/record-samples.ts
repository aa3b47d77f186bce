import type { Redis } from 'ioredis';

/** A Redis as its keys are, by name; what is stored as bytes stands in base64. */
export type Sample = Record<string, SampleKey>;
type SampleKey =
  | { type: 'string'; value: string }
  | { type: 'hash'; value: Record<string, string> }
  | { type: 'list' | 'set'; value: string[] }
  | { type: 'zset'; value: [string, string][] }
  | { type: 'stream'; last: string; value: [string, string[]][] };

/** Puts a sample into an empty Redis. */
export async function loadSample(redis: Redis, sample: Sample): Promise<void> {
  for (const [key, stored] of Object.entries(sample)) {
    switch (stored.type) {
      case 'string':
        await redis.set(key, Buffer.from(stored.value, 'base64'));
        break;
      case 'hash':
        for (const [field, value] of Object.entries(stored.value)) {
          await redis.hset(key, field, Buffer.from(value, 'base64'));
        }
        break;
      case 'list':
        await redis.rpush(key, ...stored.value);
        break;
      case 'set':
        await redis.sadd(key, ...stored.value);
        break;
      case 'zset':
        for (const [member, score] of stored.value) await redis.zadd(key, score, member);
        break;
      default:
        for (const [id, fields] of stored.value) {
          await redis.xadd(key, id, ...fields.map((field) => Buffer.from(field, 'base64')));
        }
        // An empty stream knows its last id too.
        if (stored.value.length === 0) await redis.xadd(key, 'MAXLEN', 0, stored.last, 'x', 'y');
        else await redis.call('XSETID', key, stored.last);
    }
  }
}
