/** A batch as bytes, for a report: a head in JSON, and the columns in the smallest exact types. */
import type { Batch } from '../format/batch.ts';
import { labelOf } from '../format/observation.ts';

const TYPES = { Uint8Array, Int16Array, Int32Array, Float32Array, Float64Array };
type TypeName = keyof typeof TYPES;
type Column = InstanceType<(typeof TYPES)[TypeName]>;

/** A column in the head: what it is in memory, what it is in the bytes, and where. */
interface Place {
  column: TypeName;
  as: TypeName;
  at: number;
  length: number;
}

const LENGTH_BYTES = 4;
/** Columns begin at a multiple of this, so that they are read in place. */
const ALIGNMENT = 8;
const aligned = (at: number): number => Math.ceil(at / ALIGNMENT) * ALIGNMENT;

const typeOf = (column: Column): TypeName =>
  (Object.keys(TYPES) as TypeName[]).find((name) => column instanceof TYPES[name])!;

/** The column in the smallest type that holds its values exactly; -0 and NaN are kept. */
function smallest(column: Column): Column {
  for (const name of ['Uint8Array', 'Int16Array', 'Int32Array', 'Float32Array'] as const) {
    const short = TYPES[name].from(column as Float64Array);
    if (short.every((value, at) => Object.is(value, column[at]))) return short;
  }
  return column;
}

/** The bytes of a batch; {@link unpackBatch} makes an equal one. With `texts: false` observations and actions lose their texts. */
export function packBatch(batch: Batch, { texts }: { texts: boolean }): Uint8Array<ArrayBuffer> {
  const columns: { bytes: Uint8Array; at: number }[] = [];
  let end = 0;
  const head = JSON.stringify(texts ? batch : withoutTexts(batch), (key, value: unknown) => {
    // The texts say more, and digests do not shrink.
    if (key === 'digests' && texts && batch.dictionary?.texts !== undefined) return undefined;
    if (typeof value === 'number' && !Number.isFinite(value)) return { notFinite: String(value) };
    if (!ArrayBuffer.isView(value)) return value;
    const column = value as Column;
    const short = smallest(column);
    const place: Place = { column: typeOf(column), as: typeOf(short), at: end, length: short.length };
    columns.push({ bytes: new Uint8Array(short.buffer, short.byteOffset, short.byteLength), at: end });
    end = aligned(end + short.byteLength);
    return place;
  });
  const headBytes = new TextEncoder().encode(head);
  const start = aligned(LENGTH_BYTES + headBytes.length);
  const packed = new Uint8Array(start + end);
  new DataView(packed.buffer).setUint32(0, headBytes.length, true);
  packed.set(headBytes, LENGTH_BYTES);
  for (const { bytes, at } of columns) packed.set(bytes, start + at);
  return packed;
}

function withoutTexts({
  dictionary: _,
  action: _a,
  actionTexts: _t,
  ...batch
}: Batch): Omit<Batch, 'dictionary'> {
  return batch;
}

/** The batch of {@link packBatch}. Throws a SyntaxError or a RangeError if the bytes are damaged. */
export function unpackBatch(packed: Uint8Array<ArrayBuffer>): Batch {
  const length = new DataView(packed.buffer, packed.byteOffset).getUint32(0, true);
  const start = aligned(LENGTH_BYTES + length);
  const text = new TextDecoder().decode(packed.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
  const batch = JSON.parse(text, (_key, value: unknown) => {
    if (isNotFinite(value)) return Number(value.notFinite);
    if (!isPlace(value)) return value;
    const from = packed.byteOffset + start + value.at;
    const short = new TYPES[value.as](packed.buffer, from, value.length);
    return value.as === value.column ? short : TYPES[value.column].from(short as Float64Array);
  }) as Omit<Batch, 'observationLabel'>;
  const { texts, digests } = batch.dictionary ?? {};
  return {
    ...batch,
    observationLabel: (id) => (texts ? labelOf(texts[id]!) : digests ? hex(digests, id) : String(id)),
  };
}

/** JSON has no such numbers. */
const isNotFinite = (value: unknown): value is { notFinite: string } =>
  typeof value === 'object' && value !== null && 'notFinite' in value;

const isPlace = (value: unknown): value is Place =>
  typeof value === 'object' && value !== null && 'column' in value && 'as' in value;

const DIGEST_BYTES = 16;

function hex(digests: Uint8Array, id: number): string {
  const own = digests.subarray(id * DIGEST_BYTES, (id + 1) * DIGEST_BYTES);
  return Array.from(own, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
