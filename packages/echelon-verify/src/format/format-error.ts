import { cut, MAX_SENTENCE_CHARACTERS } from 'command-kit/cut';

/** Why an input cannot be read as a batch. */
export type BatchFormatCode =
  /** Not gzip, JSON or protobuf, or cut off. */
  | 'unreadable'
  /** Larger than what is read in bounded memory. */
  | 'too-large'
  /** Something that the format requires, or that the estimator needs, is not there. */
  | 'missing'
  /** A value of the wrong kind or outside its range. */
  | 'invalid'
  /** A column whose length is not the number of rows. */
  | 'wrong-length'
  /** A key that the format does not have, or one that occurs twice. */
  | 'bad-key';

/** Where the fault is. `batch` is the batch's name, or its place in the file (`#3`) before a name is known. */
export interface BatchFault {
  readonly code: BatchFormatCode;
  readonly file: string;
  readonly batch?: string | undefined;
  /** A path such as `reported.advantage[17]`. */
  readonly field?: string | undefined;
  /** What should have been there, in words. */
  readonly expected: string;
  /** What was there instead, in words. */
  readonly found?: string | undefined;
}

/** An input that cannot be read as a batch: says which file, which batch, which field and what was expected. */
export class BatchFormatError extends Error {
  override readonly name = 'BatchFormatError';
  readonly code: BatchFormatCode;
  readonly file: string;
  readonly batch: string | undefined;
  readonly field: string | undefined;
  readonly expected: string;
  readonly found: string | undefined;

  constructor(full: BatchFault, options?: ErrorOptions) {
    const fault = shown(full);
    super(describe(fault), options);
    this.code = fault.code;
    this.file = fault.file;
    this.batch = fault.batch;
    this.field = fault.field;
    this.expected = fault.expected;
    this.found = fault.found;
  }
}

/** With texts from the file as far as they are shown. */
function shown({ batch, field, expected, found, ...fault }: BatchFault): BatchFault {
  return {
    ...fault,
    batch: batch && cut(batch),
    field: field && cut(field),
    expected: cut(expected, MAX_SENTENCE_CHARACTERS),
    found: found && cut(found, MAX_SENTENCE_CHARACTERS),
  };
}

function describe(fault: BatchFault): string {
  const place = [
    fault.file,
    ...(fault.batch === undefined ? [] : [`batch ${fault.batch}`]),
    ...(fault.field === undefined ? [] : [`field ${fault.field}`]),
  ].join(', ');
  return `${place}: expected ${fault.expected}${fault.found === undefined ? '' : `, found ${fault.found}`}`;
}

/** A few words for a value in a message: its kind, and its text if that is short. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string')
    return value.length <= 40 ? JSON.stringify(value) : `a text of ${value.length} characters`;
  const text = String(value);
  return text.length <= 40 ? `${typeof value} ${text}` : `a number of ${text.length} digits`;
}
