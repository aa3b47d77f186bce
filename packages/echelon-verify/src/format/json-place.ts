/** Where in a JSON text a byte stands, said as a reader of the file would. */

import { endOfString, keyText, skipSpace } from './scan-json.ts';

const COLON = 0x3a;

/** A place in a batch file: `#3` and `reward[17]`. A part that the place does not have is omitted. */
export interface JsonPlace {
  readonly batch?: string;
  readonly field?: string;
}

/** The place of the byte at `offset`. For messages: walks the text from its start. */
export function placeInJson(bytes: Uint8Array, offset: number): JsonPlace {
  const path = pathTo(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset);
  const inBatch = path[0] === 'batches' && typeof path[1] === 'number';
  const field = inText(inBatch ? path.slice(2) : path);
  return {
    ...(inBatch ? { batch: `#${path[1]}` } : {}),
    ...(field === '' ? {} : { field }),
  };
}

function inText(path: readonly (string | number)[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text.replace(/^\./, '');
}

/** Keys and indices from the outermost value inwards. */
function pathTo(text: Buffer, offset: number): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = 0; at < offset; at++) {
    const byte = text[at]!;
    if (byte === 0x22) {
      const end = endOfString(text, at);
      if (text[skipSpace(text, end + 1)] === COLON && path.length > 0)
        path[path.length - 1] = keyText(text, at, end);
      at = end;
    } else if (byte === 0x5b) path.push(0);
    else if (byte === 0x7b) path.push('');
    else if (byte === 0x5d || byte === 0x7d) path.pop();
    else if (byte === 0x2c) {
      const last = path[path.length - 1];
      if (typeof last === 'number') path[path.length - 1] = last + 1;
    }
  }
  return path.filter((part) => part !== '');
}
