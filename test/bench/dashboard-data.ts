/** The records that the bench of the dashboard shows. */

import { randomFrom } from '../../packages/echelon-verify/test/support/random-batch.ts';
import type { AttemptEvent, NumberedEvent } from '../../src/core/events.ts';
import type { Lease } from '../../src/store/attempts/types.ts';
import type { Store } from '../../src/store/store.ts';
import { running, submitInput } from '../support/store.ts';

/** A text in every thousandth line of {@link addLog}, and one in every line. */
export const RARE = 'checkpoint saved';
export const EVERY = 'loss';

/** Experiments that wait in the queue. */
export async function addExperiments(store: Store, count: number): Promise<void> {
  const one = (at: number) => store.experiments.submit(submitInput({ name: `experiment ${at}` }));
  for (let first = 0; first < count; first += 100)
    await Promise.all(Array.from({ length: Math.min(100, count - first) }, (_, at) => one(first + at)));
}

async function append(store: Store, lease: Lease, events: AttemptEvent[]): Promise<void> {
  const at = Date.now();
  for (let first = 0; first < events.length; first += 100) {
    const numbered = events
      .slice(first, first + 100)
      .map((event, index): NumberedEvent => ({ sequence: first + index + 1, at, event }));
    await store.events.append(lease, numbered);
    for (const id of await store.metrics.takeDue(10)) await store.metrics.compact(id);
  }
}

/** An ended training with four metrics in each step; its id. */
export async function addTraining(store: Store, steps: number): Promise<string> {
  const lease = await running(store, { input: { name: `${steps} steps` } });
  const names = ['episode/success_rate', 'episode/reward/mean', 'actor/pg_loss', 'actor/entropy_loss'];
  const valuesOf = (step: number) =>
    Object.fromEntries(names.map((name, at) => [name, Math.sin(step * 1e-3 * (at + 1)) + (step % 7) * 0.01]));
  const events = Array.from(
    { length: steps },
    (_, step): AttemptEvent => ({
      type: 'metrics',
      step,
      values: valuesOf(step),
    }),
  );
  await append(store, lease, events);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  return lease.experiment;
}

/** An ended training with so many lines of output, a hundred in an event; its id. */
export async function addLog(store: Store, lines: number): Promise<string> {
  const lease = await running(store, { input: { name: `${lines} lines` } });
  const textOf = (line: number) =>
    `step ${Math.floor(line / 10)} ${EVERY} ${((line * 7919) % 1000) / 1000} tokens/s ${line % 977}${line % 1000 === 0 ? ` ${RARE}` : ''}`;
  const events = Array.from(
    { length: lines / 100 },
    (_, event): AttemptEvent => ({
      type: 'log',
      source: 'stdout',
      cutBytes: 0,
      lines: Array.from({ length: 100 }, (_v, index) => textOf(event * 100 + index + 1)),
    }),
  );
  await append(store, lease, events);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  return lease.experiment;
}

/** A file with one batch of 6,400 rows: 100 groups of 8 trajectories with 8 steps, and seven columns in the heat map. */
export function batchFile(): Buffer {
  const random = randomFrom(7);
  const at = Array.from({ length: 6400 }, (_, row) => row);
  const of = <T>(value: (row: number) => T): T[] => at.map(value);
  const trajectoryOf = (row: number) => Math.floor(row / 8);
  const batch = {
    name: '6,400 rows',
    params: {
      historyLength: 3,
      mode: 'mean_std_norm',
      lengthWeightAlpha: 1,
      baseGroup: true,
      gamma: 0.95,
      invalidActionPenalty: 0.1,
      epsilon: 1e-6,
    },
    observation: of((row) => `g${Math.floor(row / 64)}:s${Math.floor(random() * 12)}`),
    group: of((row) => `g${Math.floor(row / 64)}`),
    trajectory: of((row) => `t${trajectoryOf(row)}`),
    step: of((row) => row % 8),
    reward: of((row) => (row % 8 === 7 && trajectoryOf(row) % 3 === 0 ? 10 : 0)),
    actionValid: of(() => true),
    tokenLevelRewardSum: of((row) => (trajectoryOf(row) % 3 === 0 ? 10 : 0)),
    responseLength: of(() => 4),
    reported: { stepReward: of(() => 0), advantage: of(() => Math.fround(random() * 2 - 1)) },
  };
  return Buffer.from(JSON.stringify({ format: 'echelon-batch/1', batches: [batch] }));
}
