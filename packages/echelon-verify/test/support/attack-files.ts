/** Small files that take much memory to read, made by the tests themselves. */

import { gzipSync } from 'node:zlib';
import { torchFile } from './torch-bytes.ts';

/** A file to send or to read. */
export interface AttackFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** A file of torch.save with so many empty sets: one byte each, about 200 in memory. */
export function emptySets(count: number): AttackFile {
  const value = Buffer.concat([Buffer.from(']('), Buffer.alloc(count, 0x8f), Buffer.from('e')]);
  return { name: '0_0.pt', bytes: torchFile(value) };
}

/** Tag and length of a field of a message. */
function field(number: number, bytes: Buffer): Buffer {
  const head: number[] = [];
  for (const value of [(number << 3) | 2, bytes.length]) {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
    head.push(rest);
  }
  return Buffer.concat([Buffer.from(head), bytes]);
}

const FORMAT = field(1, Buffer.from('echelon-batch/1'));
const ESTIMATOR = field(4, field(1, Buffer.from('grpo')));

/** A batch of the wire, in gzip, with one field so many times. */
export function repeatedField(number: number, count: number, content = ''): AttackFile {
  const once = field(number, Buffer.from(content));
  const bytes = gzipSync(Buffer.concat([FORMAT, ESTIMATOR, Buffer.alloc(count * once.length, once)]), {
    level: 1,
  });
  return { name: 'a.pb', bytes };
}

/** A batch of the wire whose name, or the name of one of its groups, has so many characters. */
export function longName(number: 2 | 7 | 9, characters: number): AttackFile {
  return { ...repeatedField(number, 1, 'n'.repeat(characters)) };
}

/** JSON in gzip with one key of so many characters. */
export function longKey(characters: number): AttackFile {
  const text = `{"format":"echelon-batch/1","${'k'.repeat(characters)}":1,"batches":[]}`;
  return { name: 'a.json.gz', bytes: gzipSync(text) };
}
