import { EXPORTED_BYTES, parametersOf } from '../model-size.ts';
import { recipeOf } from './recipes.ts';
import type { ResolvedVerlAgent } from './spec.ts';

/** Bytes of a parameter in a checkpoint: weight and Adam's two moments in float32, or a weight alone. */
const BYTES = { trained: 12, weight: 4 } as const;

/** Space below the checkpoint root, in bytes. */
interface DiskNeeded {
  /** Of one checkpoint. */
  each: number;
  /** Checkpoints that are there at the end. */
  saves: number;
  /** An export to Hugging Face's format. */
  exported: number;
  total: number;
}

/** The space that a training's checkpoints take; undefined if a model's name does not state its size. */
export function diskNeeded(spec: ResolvedVerlAgent): DiskNeeded | undefined {
  const { model, training, critic } = spec;
  const policy = parametersOf(model.path);
  const values = critic === undefined ? 0 : parametersOf(critic.path);
  if (policy === undefined || values === undefined) return undefined;
  const exported = policy * EXPORTED_BYTES;
  const each = policy * (model.loraRank > 0 ? BYTES.weight : BYTES.trained) + values * BYTES.trained;
  const saves = retainedSaves(training, recipeOf(spec.recipe).phase);
  return { each, saves, exported, total: saves === 0 ? 0 : each * saves + exported };
}

function retainedSaves(
  { steps, saveEvery, keepCheckpoints }: ResolvedVerlAgent['training'],
  phase: 'train' | 'eval',
): number {
  if (phase === 'eval' || saveEvery === 0) return 0;
  // The last step is saved as well.
  const made = Math.ceil(steps / saveEvery);
  return keepCheckpoints === 0 ? made : Math.min(made, keepCheckpoints);
}
