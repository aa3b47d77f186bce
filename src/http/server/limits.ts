import rateLimit from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import { EchelonError } from '../../core/errors.ts';
import { holderOf } from '../../core/scopes.ts';
import { keyIdOf } from '../access/callers.ts';
import type { FailureCounter } from './auth.ts';
import type { App, Limits } from './deps.ts';

/**
 * Requests are limited by key or token, those without one by address; counted in this process. Returns the counter of
 * failed sign-ins, which are limited by address, and by the id of an API key whose secret is guessed from many: only
 * failures are counted and refused, so that guessing does not touch who has the key.
 */
export async function addLimits(app: App, limits: Limits): Promise<FailureCounter> {
  await app.register(rateLimit, {
    max: limits.requests,
    timeWindow: limits.requestWindowMs,
    keyGenerator: (request: FastifyRequest) => holderOf(request.caller) || request.ip,
    errorResponseBuilder: (_request, { ttl }) =>
      tooMany(`No more than ${limits.requests} requests in ${limits.requestWindowMs / 1000} s`, ttl),
  });
  const window = { max: limits.failedSignIns, timeWindow: 60_000 };
  const tried = new WeakMap<FastifyRequest, string>();
  const counters = [
    app.createRateLimit({ ...window, keyGenerator: (request) => `failed ${request.ip}` }),
    app.createRateLimit({ ...window, keyGenerator: (request) => `failed key ${tried.get(request)}` }),
  ];
  return async (request, token) => {
    const id = token === undefined ? undefined : keyIdOf(token);
    if (id !== undefined) tried.set(request, id);
    for (const counter of id === undefined ? counters.slice(0, 1) : counters) {
      const state = await counter(request);
      if (state.isAllowed || !state.isExceeded) continue;
      throw tooMany(`No more than ${limits.failedSignIns} failed sign-ins in a minute`, state.ttl);
    }
  };
}

function tooMany(what: string, ttlMs: number): EchelonError {
  return new EchelonError('rate-limited', `${what}; try again in ${Math.ceil(ttlMs / 1000)} s.`);
}
