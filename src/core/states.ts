/*
 * Glossary. src/ARCHITECTURE.md has the path of an experiment and of a batch through the files.
 *
 * installation one Redis with its archive and ray-workers; one id stands in all of them
 * project      who owns experiments, keys, secrets and quotas
 * experiment   what a person submits: one spec, one record, one id; run in one or more attempts
 * attempt      one launch of an experiment's driver, numbered from 1; 0 is the time before the first allocation
 * allocation   GPUs and CPUs given to an attempt, in the atomic step that raises the attempt number
 * lease        the right of one dispatcher to write for an attempt, kept by renewal, named by a token
 * driver       the training process of an attempt; its supervisor owns it and writes the event log
 * ray-worker   the detached actor of a cluster that starts supervisors and serves their logs
 * dispatcher   a process of ours that places, launches, follows and verifies
 * preemption   an attempt stops at a checkpoint so that an urgent experiment can start
 * sweep        experiments that differ in a few values of one spec
 * comparison   a sweep whose methods, seeds, panel and test were planned before its first run
 * panel        the fixed list of games that every run of a comparison plays
 * group        rollouts that started from the same initial state
 * trajectory   one rollout; its rows are its steps, numbered from 0
 * episode      a trajectory seen from the environment, from reset to its end
 * batch        the rows of one advantage computation, with what it reported
 * report       the verifier's answer to one batch: an outcome for each row, and findings
 * outcome      of a row: exact, rounding, wrong or unverifiable
 * finding      an observation about a whole batch or spec, with a severity and a remedy
 * stage        a part of an optimizer step: ratio, clip, KL, denominator, gradient coefficient
 * coverage     which rows and stages of a training were verified, and from which source
 *
 * "Worker" alone is not used: it would mean three things here (ray-worker, BullMQ worker, worker thread).
 */

/** Every state of an experiment, in the order of its life. */
export const STATES = [
  'queued',
  'launching',
  'running',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
] as const;

/**
 * queued: waits for its allocation. launching: allocated, the launch not yet confirmed. running: the launch is confirmed.
 * cancelling: a cancel was accepted and the driver's end is not yet confirmed. The other three are final.
 */
export type State = (typeof STATES)[number];

/** What may follow what. A state is left only along this table; the store's scripts refuse anything else. */
export const TRANSITIONS: Readonly<Record<State, readonly State[]>> = {
  queued: ['launching', 'cancelled', 'failed'],
  launching: ['running', 'queued', 'cancelling', 'failed', 'cancelled'],
  running: ['succeeded', 'failed', 'queued', 'cancelling'],
  cancelling: ['cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

/** Crashes of ours that put an experiment in quarantine: it gets no further attempt, whatever its spec allows. */
export const QUARANTINE_AFTER = 3;

/** True for a state that is never left. */
export function isFinal(state: State): boolean {
  return TRANSITIONS[state].length === 0;
}

/** True while a dispatcher must hold the experiment's lease. */
export function isHeld(state: State): boolean {
  return state === 'launching' || state === 'running' || state === 'cancelling';
}
