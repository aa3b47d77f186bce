import { readFileSync } from 'node:fs';
import type { Forms } from '../../src/arithmetic/arithmetic.ts';
import type { Batch } from '../../src/format/batch.ts';
import { readBatchFile } from '../../src/format/read.ts';

/** Files of recorded batches in test/golden. */
const GOLDEN_FILES = [
  'hgpo.json',
  'gigpo-grpo.json',
  'graphgpo.json.gz',
  'g2po.json.gz',
  'gigpo-variants.json.gz',
  'hgpo-large.json.gz',
  'real-alfworld.json.gz',
  'real-taubench.json.gz',
] as const;

const cache = new Map<string, Batch[]>();

/** The batches of one golden file. */
function goldenBatches(file: (typeof GOLDEN_FILES)[number]): Batch[] {
  const known = cache.get(file);
  if (known !== undefined) return known;
  const batches = readBatchFile(
    readFileSync(new URL(`../../../../test/golden/${file}`, import.meta.url)),
    file,
  );
  cache.set(file, batches);
  return batches;
}

/** All golden batches. */
export function allGoldenBatches(): Batch[] {
  return GOLDEN_FILES.flatMap(goldenBatches);
}

/** The batch with a statement of its algebraic forms. Golden batches were computed in those of the recipe. */
export function inForms(batch: Batch, forms: Forms): Batch {
  return { ...batch, estimator: { ...batch.estimator, forms } };
}

/** One golden batch by its name. */
export function goldenBatch(name: string): Batch {
  for (const file of GOLDEN_FILES) {
    const found = goldenBatches(file).find((batch) => batch.name === name);
    if (found !== undefined) return found;
  }
  throw new Error(`no golden batch ${name}`);
}
