import { recipeOf } from './recipes.ts';
import type { ResolvedVerlAgent } from './spec.ts';

/** Bytes of a parameter: in a checkpoint (weight and Adam's two moments in float32), as a weight alone, in an export. */
const BYTES = { trained: 12, weight: 4, exported: 2 } as const;

/** Parameters of Qwen2.5 by the size in their names, in billions. */
const QWEN: Readonly<Record<string, number>> = {
  ...{ '0.5': 0.494, '1.5': 1.544, '3': 3.086, '7': 7.616, '14': 14.77, '32': 32.76, '72': 72.71 },
};

/** Space below the checkpoint root, in bytes. */
export interface DiskNeeded {
  /** Of one checkpoint. */
  each: number;
  /** Checkpoints that are there at the end. */
  saves: number;
  /** An export to Hugging Face's format. */
  exported: number;
  total: number;
}

/** A model's parameters as its name states them (`…-1.5B-…`); undefined if it does not. */
export function parametersOf(path: string): number | undefined {
  const name = path.split('/').findLast((part) => part !== '') ?? '';
  const size = /(?<![\d.])(\d+(?:\.\d+)?)[bB](?![A-Za-z])/.exec(name)?.[1];
  if (size === undefined) return undefined;
  return 1e9 * ((/qwen2\.5/i.test(name) ? QWEN[size] : undefined) ?? Number(size));
}

/** The space that a training's checkpoints take; undefined if a model's name does not state its size. */
export function diskNeeded(spec: ResolvedVerlAgent): DiskNeeded | undefined {
  const { model, training, critic } = spec;
  const policy = parametersOf(model.path);
  const values = critic === undefined ? 0 : parametersOf(critic.path);
  if (policy === undefined || values === undefined) return undefined;
  const exported = policy * BYTES.exported;
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

/** `18.5 GB`, in powers of ten as disks are sold. */
export function gigabytes(bytes: number): string {
  const value = bytes / 1e9;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} GB`;
}
