import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { EchelonError } from '../../../core/errors.ts';
import type { App } from '../../server/deps.ts';

/** Sign-ins on another device in a minute, of one address and of all: each is a request to the provider with our secret. */
const BEGUN_OF_ADDRESS = 10;
const BEGUN = 60;
/** Questions to the provider in a minute about one sign-in. */
const POLLS = 60;

/** Bounds what callers without a key make us ask the provider. */
export function createDeviceLimits(app: App) {
  const window = { timeWindow: 60_000 };
  const begun = [
    app.createRateLimit({
      ...window,
      max: BEGUN_OF_ADDRESS,
      keyGenerator: (request) => `device ${request.ip}`,
    }),
    app.createRateLimit({ ...window, max: BEGUN, keyGenerator: () => 'device' }),
  ];
  const polled = app.createRateLimit({
    ...window,
    max: POLLS,
    keyGenerator: (request) => `poll ${digestOf((request.body as { device: string }).device)}`,
  });
  return {
    /** Throws EchelonError `rate-limited` if too many were begun. */
    async mayBegin(request: FastifyRequest): Promise<void> {
      for (const count of begun) {
        const state = await count(request);
        if (state.isAllowed || !state.isExceeded) continue;
        throw new EchelonError(
          'rate-limited',
          `Too many sign-ins were begun; try again in ${Math.ceil(state.ttl / 1000)} s.`,
        );
      }
    },
    /** Whether the provider is asked about a sign-in now. */
    async mayPoll(request: FastifyRequest): Promise<boolean> {
      const state = await polled(request);
      return state.isAllowed || !state.isExceeded;
    },
  };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
