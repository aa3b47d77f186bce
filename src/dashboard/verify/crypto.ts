/** Stands for node:crypto in the page: batches are read there and never written, so nothing is hashed. */
export function createHash(): never {
  throw new TypeError('the page computes no digests');
}
