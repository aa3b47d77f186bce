import { CISPO } from './cispo.ts';
import { CROSS_ENTROPY } from './cross-entropy.ts';
import { DPPO } from './dppo.ts';
import { DRO } from './dro.ts';
import { GMPO } from './gmpo.ts';
import { GSPO } from './gspo.ts';
import type { LossParameters, PolicyLoss } from './loss.ts';
import { PPO_CLIP } from './ppo-clip.ts';
import { PRIME_RL } from './prime-rl.ts';
import { PRIME_RL_IPO } from './prime-rl-ipo.ts';
import { REINFORCE } from './reinforce.ts';
import { SAPO } from './sapo.ts';
import { VESPO } from './vespo.ts';

/** Every policy loss. */
export const LOSSES: readonly PolicyLoss[] = [
  PPO_CLIP,
  CISPO,
  GSPO,
  REINFORCE,
  SAPO,
  DPPO,
  GMPO,
  VESPO,
  DRO,
  CROSS_ENTROPY,
  PRIME_RL,
  PRIME_RL_IPO,
];

/** The loss with a name; undefined if there is none. */
export function lossOf(name: string): PolicyLoss | undefined {
  return LOSSES.find((loss) => loss.name === name);
}

/** The complete parameters of a loss; or the name of a stated one that it does not have, or that is no number. */
export function completeLoss(
  { parameters }: PolicyLoss,
  stated: Readonly<Record<string, unknown>>,
): { params: LossParameters } | { unknown: string } {
  const params: Record<string, number> = {};
  for (const [key, { fallback }] of Object.entries(parameters))
    params[key] = typeof fallback === 'number' ? fallback : Number.NaN;
  for (const [key, value] of Object.entries(stated)) {
    if (!(key in parameters) || (value !== null && typeof value !== 'number')) return { unknown: key };
    params[key] = value ?? Number.NaN;
  }
  return { params };
}
