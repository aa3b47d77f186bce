/** Frames on a byte stream: the length of a payload as 4 bytes, least significant first, and the payload. */

const HEAD_BYTES = 4;

/** The payload with its length before it. */
export function framed(payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEAD_BYTES + payload.length);
  new DataView(frame.buffer).setUint32(0, payload.length, true);
  frame.set(payload, HEAD_BYTES);
  return frame;
}

/** The payloads of a stream in their order. Bytes of an incomplete frame at the end are ignored. */
export async function* payloadsOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    parts.push(part);
    length += part.length;
    let wanted = wantedBytes(parts, length);
    while (length >= wanted) {
      const whole = Buffer.concat(parts, length);
      yield whole.subarray(HEAD_BYTES, wanted);
      parts = [whole.subarray(wanted)];
      length -= wanted;
      wanted = wantedBytes(parts, length);
    }
  }
}

/** Bytes of the first frame; of its head as long as that is incomplete. */
function wantedBytes(parts: Uint8Array[], length: number): number {
  if (length < HEAD_BYTES) return HEAD_BYTES;
  // The head can be in several parts, which then are few and short.
  if (parts[0]!.length < HEAD_BYTES) parts.splice(0, parts.length, Buffer.concat(parts, length));
  const [first] = parts;
  return HEAD_BYTES + new DataView(first!.buffer, first!.byteOffset, HEAD_BYTES).getUint32(0, true);
}
