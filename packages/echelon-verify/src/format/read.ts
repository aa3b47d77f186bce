import type { Batch } from './batch.ts';
import { decodeBatch } from './batch-wire.ts';
import { BatchFormatError } from './format-error.ts';
import { inflate, inflateStart, isGzip, MAX_INFLATED_BYTES } from './inflate.ts';
import { MAX_JSON_BYTES, parseJson } from './parse-json.ts';
import { batchesIn } from './read-batch.ts';
import { isStepFile, readSteps, STEP_FORMAT } from './read-step.ts';
import type { StepBatch } from './step-batch.ts';
import { decodeStep, formatOfWire } from './step-wire.ts';

/** The tag of a protobuf batch's first field. */
const FIRST_TAG = 0x0a;

/** What a file of the project's own formats holds. */
export type Recorded = { readonly batches: Batch[] } | { readonly steps: StepBatch[] };

/**
 * Reads the advantage batches of a file: `echelon-batch/1` or `/2` JSON or one protobuf batch of the wire, plain or in gzip,
 * told apart by their first bytes. `source` names the file in messages, `maxBytes` bounds what gzip may unfold to.
 * Throws a BatchFormatError for anything else.
 */
export function readBatchFile(
  bytes: Uint8Array,
  source: string,
  maxBytes: number = MAX_INFLATED_BYTES,
): Batch[] {
  const recorded = readRecorded(bytes, source, maxBytes);
  if ('batches' in recorded) return recorded.batches;
  const expected = 'echelon-batch/1 or /2 with advantages';
  throw new BatchFormatError({
    code: 'invalid',
    file: source,
    field: 'format',
    expected,
    found: STEP_FORMAT,
  });
}

/** As {@link readBatchFile}, and `echelon-batch/3` as well. */
export function readRecorded(
  bytes: Uint8Array,
  source: string,
  maxBytes: number = MAX_INFLATED_BYTES,
): Recorded {
  if (!isGzip(bytes)) return readPlain(bytes, source);
  // What it is decides how far it may unfold: a bomb is seen for what it is before it goes off.
  const kind = kindOf(inflateStart(bytes));
  if (kind === 'unknown') throw unknownFile(source, 'something else in gzip');
  const most = Math.min(maxBytes, kind === 'wire' ? MAX_INFLATED_BYTES : MAX_JSON_BYTES);
  return readPlain(inflate(bytes, source, most), source);
}

function readPlain(bytes: Uint8Array, source: string): Recorded {
  const kind = kindOf(bytes);
  if (kind === 'json') {
    const parsed = parseJson(bytes, source);
    return isStepFile(parsed) ? { steps: readSteps(parsed, source) } : { batches: batchesIn(parsed, source) };
  }
  if (kind === 'wire')
    return formatOfWire(bytes) === STEP_FORMAT
      ? { steps: [decodeStep(bytes, source)] }
      : { batches: [decodeBatch(bytes, source)] };
  throw unknownFile(source, bytes.length === 0 ? 'an empty file' : describeStart(bytes));
}

function unknownFile(file: string, found: string): BatchFormatError {
  const expected = 'echelon-batch/1, /2 or /3, as JSON or protobuf, plain or in gzip';
  return new BatchFormatError({ code: 'unreadable', file, expected, found });
}

/** JSON: a brace or bracket after blanks or a byte order mark. FIRST_TAG is a blank too: a line feed. */
function kindOf(bytes: Uint8Array): 'json' | 'wire' | 'blank' | 'unknown' {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0a || bytes[at] === 0x0d) at++;
  if (bytes[at] === 0x7b || bytes[at] === 0x5b) return 'json';
  if (bytes[0] === FIRST_TAG && at < bytes.length) return 'wire';
  return at >= bytes.length ? 'blank' : 'unknown';
}

function describeStart(bytes: Uint8Array): string {
  const mark = (bytes[0]! << 8) | bytes[1]!;
  return mark === 0xfffe || mark === 0xfeff ? 'UTF-16 text (JSON is UTF-8)' : 'something else';
}
