import { setTimeout as delay } from 'node:timers/promises';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import type { World } from '../world.ts';
import { between, type Fault } from './fault.ts';

/**
 * Faults of the connections between two kinds of processes, which go through the proxy that `of` names. Half-open:
 * established connections pass nothing on, and both ends believe that they stand.
 */
export function connectionFaults(pair: string, of: (world: World) => TcpProxy): readonly Fault[] {
  const kind = (fault: string) => `connections ${pair}: ${fault}`;
  return [
    { kind: kind('cut'), outage: false, strike: async (world) => of(world).reset() },
    { kind: kind('half-open'), outage: false, strike: async (world) => of(world).freeze() },
    {
      kind: kind('every byte late'),
      outage: false,
      async strike(world, random) {
        of(world).delay(between(random, 20, 300));
        await delay(between(random, 500, 4_000));
        of(world).delay(0);
      },
    },
    {
      kind: kind('stalled, then all bytes at once'),
      outage: true,
      async strike(world, random) {
        const ms = between(random, 200, 4_000);
        of(world).stall(ms);
        await delay(ms);
      },
    },
  ];
}
