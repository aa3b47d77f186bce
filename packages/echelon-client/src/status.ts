import type { Experiment } from './calls.ts';

/** An experiment as far as its status depends on it. A child of a sweep states no `resolved` spec. */
export interface Considered {
  state: string;
  verification: Pick<Experiment['verification'], 'signal'> | null;
  resolved?: { engine?: unknown };
}

/** Tone of a status: of its state, or of a signal that outweighs it. */
export type StatusTone = 'wrong' | 'unverified' | 'state';

/** Engines that play without training: their batches have no advantages. */
const WITHOUT_TRAINING: ReadonlySet<unknown> = new Set(['prompt']);

/** An experiment's status: its state, and its training signal unless it is right. A succeeded training with a wrong signal is wrong. */
export function statusOf({ state, verification, resolved }: Considered): { text: string; tone: StatusTone } {
  const signal = verification?.signal ?? null;
  if (signal === 'wrong') return { text: `${state}, signal wrong`, tone: 'wrong' };
  if (signal !== 'unverified') return { text: state, tone: 'state' };
  if (WITHOUT_TRAINING.has(resolved?.engine)) return { text: `${state}, no training`, tone: 'state' };
  return { text: `${state}, signal unverified`, tone: state === 'succeeded' ? 'unverified' : 'state' };
}
