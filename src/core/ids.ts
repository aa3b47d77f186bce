const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** What an experiment's id looks like; also what a ray-worker accepts as a directory name. */
export const EXPERIMENT_ID = /^exp-[0-9a-hjkmnp-tv-z]{20}$/;

/**
 * A new experiment id: `exp-` and 20 characters of Crockford's base 32, from 48 bits of time and 48 random
 * bits. Ids sort by the time of their making and never look like a number (BullMQ refuses such job ids).
 */
export function newExperimentId(): string {
  return newId('exp');
}

/** What a command's id looks like. */
export const COMMAND_ID = /^cmd-[0-9a-hjkmnp-tv-z]{20}$/;

/** A new command id: as {@link newExperimentId}, with `cmd-` before it. */
export function newCommandId(): string {
  return newId('cmd');
}

/** What a subscription's id looks like. */
export const SUBSCRIPTION_ID = /^sub-[0-9a-hjkmnp-tv-z]{20}$/;

/** A new subscription id: as {@link newExperimentId}, with `sub-` before it. */
export function newSubscriptionId(): string {
  return newId('sub');
}

/** A new id of a request for a job of Slurm: as {@link newExperimentId}, with `req-` before it. */
export function newRequestId(): string {
  return newId('req');
}

function newId(prefix: string): string {
  // Its last twelve digits are random, and come from a pool: bytes asked for one id at a time cost ten times as much.
  const random = crypto.randomUUID().slice(-12);
  const bits = (BigInt(Date.now()) << 48n) | BigInt(`0x${random}`);
  let text = '';
  for (let shift = 95n; shift >= 0n; shift -= 5n) text += ALPHABET[Number((bits >> shift) & 31n)];
  return `${prefix}-${text}`;
}

const STEP = 20n;

/**
 * The id in the experiment's Redis Stream of event `sequence` (from 1) of `attempt` (from 1). The 2²⁰ ids after each
 * event are for the controller's own entries.
 */
export function entryId(attempt: number, sequence: number): string {
  return `${attempt}-${BigInt(sequence) << STEP}`;
}

/** The place just before event `sequence`: what is read after it begins with that event. */
export function placeBefore(attempt: number, sequence: number): string {
  return `${attempt}-${(BigInt(sequence) << STEP) - 1n}`;
}

/** The position of a stream entry. `sequence` is the number of the attempt's last event at or before it. */
interface EntryPlace {
  attempt: number;
  sequence: number;
  /** True for the event itself, false for an entry that the controller added after it. */
  fromAttempt: boolean;
}

/** Reads a stream id, or undefined if the text is no id. `Last-Event-ID` comes from any client. */
export function parseEntryId(id: string): EntryPlace | undefined {
  const match = /^(\d{1,10})-(\d{1,20})$/.exec(id);
  if (!match) return undefined;
  const low = BigInt(match[2]!);
  if (low > 0xffff_ffff_ffff_ffffn) return undefined;
  const sequence = low >> STEP;
  return {
    attempt: Number(match[1]),
    sequence: Number(sequence),
    fromAttempt: low === sequence << STEP && low > 0n,
  };
}

/** What a sweep's id looks like. */
export const SWEEP_ID = /^swp-[0-9a-hjkmnp-tv-z]{20}$/;

/** Children of one sweep at most. */
export const MAX_CHILDREN = 10_000;
/** Runs of one child at most: the first one and its re-runs. */
export const MAX_RUNS = 64;

/** A new sweep id: `swp-` and 20 characters made like those of an experiment's id. */
export function newSweepId(): string {
  return `swp-${newExperimentId().slice(4)}`;
}

/**
 * The experiment id of run `run` (from 0) of child `index` (from 0) of a sweep: 16 characters of the sweep's id and
 * four that count index and run. Two children of a sweep never share an id, and every expansion of a sweep gives
 * the same ids.
 */
export function childId(sweep: string, index: number, run: number): string {
  const place = index * MAX_RUNS + run;
  let text = '';
  for (let shift = 15; shift >= 0; shift -= 5) text += ALPHABET[(place >> shift) & 31];
  return `exp-${sweep.slice(4, 20)}${text}`;
}

/** Names an attempt. */
export interface AttemptName {
  experiment: string;
  attempt: number;
}
