/** The part of Node's Buffer that the readers of batches and dumps use, for browsers. Imported before them. */
class BrowserBuffer extends Uint8Array<ArrayBuffer> {
  override toString(encoding = 'utf8', start = 0, end = this.length): string {
    const part = this.subarray(start, end);
    if (encoding === 'utf8') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(part);
    let text = '';
    for (const byte of part)
      text += encoding === 'hex' ? byte.toString(16).padStart(2, '0') : String.fromCharCode(byte);
    return text;
  }
  /** Also the last place of several bytes. */
  override lastIndexOf(wanted: number | Uint8Array, from = this.length - 1): number {
    if (typeof wanted === 'number') return super.lastIndexOf(wanted, from);
    for (let at = Math.min(from, this.length - wanted.length); at >= 0; at--)
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    return -1;
  }
  readUInt16LE(at: number): number {
    return viewOf(this).getUint16(at, true);
  }
  readUInt32LE(at: number): number {
    return viewOf(this).getUint32(at, true);
  }
  readBigUInt64LE(at: number): bigint {
    return viewOf(this).getBigUint64(at, true);
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength);

/** A view of an ArrayBuffer, or a copy of bytes, as Node's. */
const from = (source: ArrayBuffer, offset?: number, length?: number) =>
  new BrowserBuffer(source, offset, length);

function concat(parts: readonly Uint8Array[]): BrowserBuffer {
  const whole = from(new ArrayBuffer(parts.reduce((sum, { length }) => sum + length, 0)));
  let next = 0;
  for (const part of parts) {
    whole.set(part, next);
    next += part.length;
  }
  return whole;
}

Object.assign(globalThis, { Buffer: { from, concat } });
