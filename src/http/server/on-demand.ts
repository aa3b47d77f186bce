import type { FastifyReply, FastifyRequest } from 'fastify';
import { EchelonError } from '../../core/errors.ts';
import { holderOf } from '../../core/scopes.ts';
import { createSlots } from './slots.ts';

/** For whom work is done, and the signal that aborts it once the client is gone. */
export interface Asked {
  readonly project: string;
  readonly caller: string;
  readonly signal: AbortSignal;
}

/** Computes something because a client asks for it. */
export type OnDemand = <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (asked: Asked) => Promise<T>,
) => Promise<T>;

/** A caller may have one in so many of the pieces of work, a project twice as many. */
const CALLER_SHARE = 4;

/** For callers that have none, so many times more pieces are in hand: others that wait long must not keep them out. */
const ROOM_FOR_OTHERS = 2;

/**
 * Bounds the work that clients ask for: at most `limit` pieces are in hand, those that wait for a process included, and twice
 * as many if each further one is a caller's only piece; one more throws EchelonError `verifier-busy`. So a batch is not even
 * read for it. A caller that has its share of them gets `rate-limited`. Work is aborted after `deadlineMs`.
 */
export function createOnDemand(limit: number, deadlineMs: number): OnDemand {
  const share = Math.max(1, Math.floor(limit / CALLER_SHARE));
  const ofCaller = createSlots(share, `${share} computations of this caller are running or queued.`);
  const ofProject = createSlots(
    2 * share,
    `${2 * share} computations of this project are running or queued.`,
  );
  let inHand = 0;
  return async ({ caller }, reply, work) => {
    const { project } = caller;
    const party = { project: project ?? '', caller: holderOf(caller) };
    if (inHand >= (ofCaller.has(party.caller) ? limit : ROOM_FOR_OTHERS * limit)) {
      throw new EchelonError(
        'verifier-busy',
        `${inHand} computations are running or queued, which is the limit. Retry later.`,
      );
    }
    using leaves = new DisposableStack();
    leaves.defer(ofCaller.take(party.caller));
    if (project !== null) leaves.defer(ofProject.take(project));
    inHand += 1;
    const left = new AbortController();
    const leave = () => left.abort();
    reply.raw.once('close', leave);
    // The request's own signal also aborts once a body has been read to its end.
    const signal = AbortSignal.any([left.signal, AbortSignal.timeout(deadlineMs)]);
    try {
      return await work({ ...party, signal });
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
