import rateLimit from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import { EchelonError } from '../../core/errors.ts';
import type { App, Limits } from '../deps.ts';
import type { FailureCounter } from './auth.ts';

/**
 * Requests are limited by token, those without one by address; counted in this process. Returns the counter of
 * failed sign-ins, which are limited by address alone, so that guessing does not touch those with a token.
 */
export async function addLimits(app: App, limits: Limits): Promise<FailureCounter> {
  await app.register(rateLimit, {
    max: limits.requests,
    timeWindow: limits.requestWindowMs,
    keyGenerator: (request: FastifyRequest) => request.caller.id || request.ip,
    errorResponseBuilder: (_request, { ttl }) =>
      tooMany(`No more than ${limits.requests} requests in ${limits.requestWindowMs / 1000} s`, ttl),
  });
  const failures = app.createRateLimit({
    max: limits.failedSignIns,
    timeWindow: 60_000,
    keyGenerator: (request) => `failed ${request.ip}`,
  });
  return async (request) => {
    const state = await failures(request);
    if (!state.isAllowed && state.isExceeded) {
      throw tooMany(`No more than ${limits.failedSignIns} failed sign-ins in a minute`, state.ttl);
    }
  };
}

function tooMany(what: string, ttlMs: number): EchelonError {
  return new EchelonError('rate-limited', `${what}; try again in ${Math.ceil(ttlMs / 1000)} s.`);
}
