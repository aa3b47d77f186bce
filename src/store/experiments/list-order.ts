import { randomBytes } from 'node:crypto';
import { EchelonError } from '../../core/errors.ts';
import type { StoreContext } from '../context.ts';

/** Orders that one reader can follow at a time; a further one replaces the oldest. */
const ORDERS_OF_READER = 8;
const RETAINED_SECONDS = 3600;
const TOKEN_BYTES = 8;

/**
 * The orders of lists whose values change while a reader turns pages: the first page stores the arrivals of all experiments in
 * their order, further pages read them, so that a list shows each experiment once. At most 80 kB an order of 10,000
 * experiments, for an hour after the last page.
 */
export function createListOrders({ redis, keys }: StoreContext) {
  return {
    /** Stores an order for `reader`; gives its token. */
    async save(reader: string, arrivals: readonly number[]): Promise<string> {
      const key = keys.listOrders(reader);
      const token = randomBytes(TOKEN_BYTES);
      const value = Buffer.concat([token, Buffer.from(Float64Array.from(arrivals).buffer)]);
      const slot = (await redis.hincrby(key, 'count', 1)) % ORDERS_OF_READER;
      await redis.multi().hset(key, slot, value).expire(key, RETAINED_SECONDS).exec();
      return `${slot}.${token.toString('hex')}`;
    },

    /** The order of a token. Throws EchelonError `invalid-cursor` if it is no longer stored. */
    async read(reader: string, token: string): Promise<Float64Array> {
      const key = keys.listOrders(reader);
      const [slot = '', secret] = token.split('.');
      const value = await redis.hgetBuffer(key, slot);
      if (value === null || value.subarray(0, TOKEN_BYTES).toString('hex') !== secret)
        throw new EchelonError(
          'invalid-cursor',
          'The order of this list is no longer stored. Repeat the request without a cursor to start from the beginning.',
        );
      await redis.expire(key, RETAINED_SECONDS);
      return new Float64Array(Uint8Array.from(value.subarray(TOKEN_BYTES)).buffer);
    },

    /** The ids of arrivals; undefined for an experiment that was deleted since. */
    async idsOf(arrivals: ArrayLike<number>): Promise<(string | undefined)[]> {
      const pipeline = redis.pipeline();
      for (const arrival of Array.from(arrivals)) pipeline.zrangebyscore(keys.index({}), arrival, arrival);
      const replies = (await pipeline.exec()) ?? [];
      return replies.map(([error, ids]) => {
        if (error !== null) throw error;
        return (ids as string[])[0];
      });
    },
  };
}
