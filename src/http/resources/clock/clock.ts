import { Type } from 'typebox';
import { StrictObject } from '../../../schemas/objects.ts';
import { isLeapt } from '../../../store/clock/judge.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

const Clock = StrictObject(
  {
    time: Type.String({
      format: 'date-time',
      description: "The store's time, which leases and retention use",
    }),
    redisTime: Type.String({ format: 'date-time', description: 'The clock of Redis' }),
    leapt: Type.Boolean({
      description:
        'Whether the clock of Redis has leapt by more than ten minutes. Retention then deletes nothing until the clock is right again or an operator confirms it.',
    }),
  },
  { title: 'Clock' },
);

/** GET /v1/clock, and POST /v1/clock/confirm. */
export function addClock(app: App, { store }: Pick<RouteDeps, 'store'>): void {
  const found = async () => {
    const { time, server, correction } = await store.clock.read();
    return { time: isoOf(time), redisTime: isoOf(server), leapt: isLeapt(correction) };
  };

  route(app, {
    at: 'GET /v1/clock',
    operationId: 'getClock',
    scope: 'admin',
    summary: "Compare the store's time with the clock of Redis",
    tag: 'service',
    answer: Clock,
    handler: found,
  });

  route(app, {
    at: 'POST /v1/clock/confirm',
    operationId: 'confirmClock',
    scope: 'admin',
    summary: 'Confirm that the clock of Redis is right after a leap',
    description:
      "The store's time becomes the time of Redis, and retention continues. Leases and due work move with it. Has no effect if the clock has not leapt. The request has no body.",
    tag: 'service',
    answer: Clock,
    body: null,
    handler: async () => {
      const { correction } = await store.clock.read();
      if (isLeapt(correction)) await store.clock.confirm(correction);
      return await found();
    },
  });
}

/** A leapt clock may be after the last date that can be written. */
function isoOf(ms: number): string {
  return new Date(Math.min(ms, MAX_DATE_MS)).toISOString();
}

const MAX_DATE_MS = Date.UTC(9999, 11, 31);
