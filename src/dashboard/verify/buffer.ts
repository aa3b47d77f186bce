/** The part of Node's Buffer that the readers of batches use, for browsers. Imported before them. */
class BrowserBuffer extends Uint8Array<ArrayBuffer> {
  override toString(encoding = 'utf8', start = 0, end = this.length): string {
    const part = this.subarray(start, end);
    if (encoding === 'utf8') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(part);
    let text = '';
    for (const byte of part)
      text += encoding === 'hex' ? byte.toString(16).padStart(2, '0') : String.fromCharCode(byte);
    return text;
  }
}

/** A view of an ArrayBuffer, or a copy of bytes, as Node's. */
const from = (source: ArrayBuffer, offset?: number, length?: number) =>
  new BrowserBuffer(source, offset, length);

Object.assign(globalThis, { Buffer: { from } });
