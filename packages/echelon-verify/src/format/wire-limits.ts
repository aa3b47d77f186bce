/** Bounds what decoding a batch of the wire may allocate, before anything is decoded: an empty field takes two bytes in the
 * message and a hundred in memory. */

import protobuf from 'protobufjs/minimal.js';
import { BatchFormatError } from './format-error.ts';

/** A fault of a message that would take too much memory. */
interface Fault {
  readonly field: string;
  readonly expected: string;
  readonly found: string;
}

/** Bytes of a name: of the batch, a group, a trajectory, a reward function. */
const MAX_NAME_BYTES = 2 ** 16;
/** Bytes of an observation or an action. */
const MAX_TEXT_BYTES = 2 ** 24;
/** Bytes of a message inside the batch that is no column: the estimator with its parameters, the provenance. */
const MAX_PART_BYTES = 2 ** 16;
/** Reward functions. */
const MAX_REWARDS = 256;
/** Fields that occur once, or that this version does not know. */
const MAX_OTHER_FIELDS = 256;
/** Names and texts beyond one for each row. */
const MORE_THAN_ROWS = 1_000;
/** A row has a group and a trajectory, four bytes each. */
const BYTES_PER_ROW = 8;

/** The most that a field may hold. */
export interface Limit {
  readonly name: string;
  readonly bytes?: number;
  /** `rows`: about as many as rows. */
  readonly count?: number | 'rows';
}

const BATCH: Readonly<Record<number, Limit>> = {
  2: { name: 'name', bytes: MAX_NAME_BYTES },
  3: { name: 'provenance', bytes: MAX_PART_BYTES },
  4: { name: 'estimator', bytes: MAX_PART_BYTES },
  7: { name: 'group_names', bytes: MAX_NAME_BYTES, count: 'rows' },
  9: { name: 'trajectory_names', bytes: MAX_NAME_BYTES, count: 'rows' },
  13: { name: 'observation_texts', bytes: MAX_TEXT_BYTES, count: 'rows' },
  31: { name: 'action_texts', bytes: MAX_TEXT_BYTES, count: 'rows' },
  32: { name: 'rewards', count: MAX_REWARDS },
};
/** Bytes of the JSON in which a step states its settings and its micro-batches. */
const MAX_STEP_BYTES = 2 ** 27;

/** Token ids with a text. */
const MAX_ID_TEXTS = 2 ** 18;

/** The limits of a step (step.proto). */
export const STEP_LIMITS: Readonly<Record<number, Limit>> = {
  2: { name: 'name', bytes: MAX_NAME_BYTES },
  4: { name: 'step', bytes: MAX_STEP_BYTES },
  7: { name: 'group_names', bytes: MAX_NAME_BYTES, count: 'rows' },
  9: { name: 'trajectory_names', bytes: MAX_NAME_BYTES, count: 'rows' },
  21: { name: 'id_texts', bytes: MAX_NAME_BYTES, count: MAX_ID_TEXTS },
};
const REWARD: Readonly<Record<number, Limit>> = { 1: { name: 'rewards.name', bytes: MAX_NAME_BYTES } };
const REWARDS_FIELD = 32;
const LENGTH_DELIMITED = 2;

/** Throws a BatchFormatError if the message holds more or longer parts than a batch of its size has. */
export function checkWire(
  bytes: Uint8Array,
  file: string,
  limits: Readonly<Record<number, Limit>> = BATCH,
): void {
  const reader = protobuf.Reader.create(bytes);
  const fault = faultIn(reader, reader.len, limits);
  if (fault !== undefined) throw new BatchFormatError({ code: 'too-large', file, ...fault });
}

/** What `decode` makes of a message within the limits. Throws a BatchFormatError for anything but a message of this name. */
export function decodeWithin<M>(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => M,
  { file, name, limits }: { file: string; name: string; limits?: Readonly<Record<number, Limit>> },
): M {
  checkWire(bytes, file, limits);
  try {
    return decode(bytes);
  } catch (cause) {
    const expected = `a complete protobuf ${name}`;
    const found = bytes.length === 0 ? 'an empty file' : (cause as Error).message;
    throw new BatchFormatError({ code: 'unreadable', file, expected, found }, { cause });
  }
}

/** A message that is cut off is not judged: the decoder refuses it. */
function faultIn(
  reader: protobuf.Reader,
  end: number,
  limits: Readonly<Record<number, Limit>>,
): Fault | undefined {
  const rows = Math.floor(reader.len / BYTES_PER_ROW) + MORE_THAN_ROWS;
  const counts = new Map<Limit | undefined, number>();
  try {
    while (reader.pos < end) {
      const tag = reader.uint32();
      const limit = limits[tag >>> 3];
      const most = limit?.count === 'rows' ? rows : (limit?.count ?? MAX_OTHER_FIELDS);
      const counted = limit?.count === undefined ? undefined : limit;
      const count = (counts.get(counted) ?? 0) + 1;
      counts.set(counted, count);
      if (count > most) return faultOf(counted?.name ?? 'fields', `at most ${most}`, 'more');
      const fault = faultOfField(reader, tag, limit);
      if (fault !== undefined) return fault;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  return undefined;
}

function faultOfField(reader: protobuf.Reader, tag: number, limit: Limit | undefined): Fault | undefined {
  if ((tag & 7) !== LENGTH_DELIMITED) {
    reader.skipType(tag & 7);
    return undefined;
  }
  const bytes = reader.uint32();
  const { bytes: most = Number.POSITIVE_INFINITY, name = '' } = limit ?? {};
  if (bytes > most) return faultOf(name, `at most ${most} bytes`, `${bytes} bytes`);
  const end = reader.pos + bytes;
  if (limit === BATCH[REWARDS_FIELD] && limit !== undefined) {
    const fault = faultIn(reader, Math.min(end, reader.len), REWARD);
    if (fault !== undefined) return fault;
    reader.pos = end;
  } else reader.skip(bytes);
  return undefined;
}

function faultOf(field: string, expected: string, found: string): Fault {
  return { field, expected, found };
}
