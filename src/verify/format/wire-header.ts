/** The few fields of a wire batch that name it, read without decoding its columns. */

import protobuf from 'protobufjs/minimal.js';

export interface WireHeader {
  readonly name: string;
  readonly rows: number;
}

const NAME_FIELD = 2;
const ROWS_FIELD = 5;

/** Name and row count as the message states them; what cannot be read is left empty or 0. Never throws. */
export function readWireHeader(wire: Uint8Array): WireHeader {
  const header = { name: '', rows: 0 };
  try {
    const reader = protobuf.Reader.create(wire);
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag >>> 3 === NAME_FIELD) header.name = reader.string();
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
