/** The few fields of a wire batch that name it, read without decoding its columns. */

import { cut } from 'command-kit/cut';
import protobuf from 'protobufjs/minimal.js';

export interface WireHeader {
  readonly name: string;
  readonly rows: number;
}

const NAME_FIELD = 2;
const ROWS_FIELD = 5;
/** Fields that are looked at: those before the rows are few. */
const MAX_FIELDS = 100;
const MAX_NAME_BYTES = 2 ** 16;

/** Name and row count as the message states them; what cannot be read is left empty or 0. Never throws. */
export function readWireHeader(wire: Uint8Array): WireHeader {
  const header = { name: '', rows: 0 };
  try {
    const reader = protobuf.Reader.create(wire);
    for (let fields = 0; fields < MAX_FIELDS && reader.pos < reader.len; fields++) {
      const tag = reader.uint32();
      if (tag >>> 3 === NAME_FIELD) header.name = nameIn(reader);
      else if (tag >>> 3 === ROWS_FIELD) {
        header.rows = reader.uint32();
        return header;
      } else reader.skipType(tag & 7);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  return header;
}

/** The name as far as it is shown. */
function nameIn(reader: protobuf.Reader): string {
  const bytes = reader.bytes();
  return cut(new TextDecoder().decode(bytes.subarray(0, MAX_NAME_BYTES)));
}
