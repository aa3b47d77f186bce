/** Stands for node:crypto in the page, which computes no digests: only readers of NeMo-RL's dumps need one. */
export function createHash(): never {
  throw new TypeError('the page cannot read this format; use echelon verify');
}
