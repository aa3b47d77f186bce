import type { FastifyReply } from 'fastify';
import { EchelonError } from '../../core/errors.ts';

/** What is computed because a client asks for it; each piece of work gets a signal that aborts once the client is gone. */
export type OnDemand = <T>(reply: FastifyReply, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Bounds the work that clients ask for: at most `limit` pieces are in hand, those that wait for a thread included; one
 * more throws EchelonError `verifier-busy`. So a batch is not even read for it. Work is aborted after `deadlineMs`.
 */
export function createOnDemand(limit: number, deadlineMs: number): OnDemand {
  let inHand = 0;
  return async (reply, work) => {
    if (inHand >= limit) {
      throw new EchelonError(
        'verifier-busy',
        `${limit} computations are running or queued, which is the limit. Retry later.`,
      );
    }
    inHand += 1;
    const left = new AbortController();
    const leave = () => left.abort();
    reply.raw.once('close', leave);
    // The request's own signal also aborts once a body has been read to its end.
    const signal = AbortSignal.any([left.signal, AbortSignal.timeout(deadlineMs)]);
    try {
      return await work(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new EchelonError(
        'deadline-exceeded',
        'The request was cancelled: the client disconnected, or the deadline passed.',
      );
    } finally {
      reply.raw.off('close', leave);
      inHand -= 1;
    }
  };
}
