import { readFileSync } from 'node:fs';
import type { Batch } from '../../src/format/batch.ts';
import { knownForm } from '../../src/identify/fingerprints.ts';
import { estimatorOfForm } from '../../src/identify/identify.ts';

interface GoldenTokens {
  readonly inputs: readonly {
    readonly name: string;
    readonly lengths: readonly number[];
    readonly mask: readonly number[];
    readonly reward: readonly number[];
    readonly value: readonly number[];
  }[];
  readonly cases: readonly {
    readonly form: string;
    readonly input: string;
    readonly advantage: readonly number[];
  }[];
}

/** What published trainers give each token (scripts/golden/tokens.py), as batches of the form that they are. */
export function goldenTokens(): { form: string; batch: Batch }[] {
  const file = new URL('../../../../test/golden/trainers/tokens.json', import.meta.url);
  const { inputs, cases } = JSON.parse(readFileSync(file, 'utf8')) as GoldenTokens;
  return cases.map(({ form, input, advantage }) => {
    const { lengths, mask, reward, value } = inputs.find(({ name }) => name === input)!;
    const rows = lengths.length;
    const offset = new Int32Array(rows + 1);
    lengths.forEach((length, row) => {
      offset[row + 1] = offset[row]! + length;
    });
    const ids = Int32Array.from({ length: rows }, (_, row) => row);
    const batch: Batch = {
      name: `${form}, ${input}`,
      rows,
      estimator: estimatorOfForm(knownForm(form)),
      group: new Int32Array(rows),
      groupNames: ['prompt'],
      trajectory: ids,
      trajectoryNames: Array.from(ids, (row) => `response ${row}`),
      step: new Int32Array(rows),
      observationLabel: String,
      tokens: {
        offset,
        mask: Uint8Array.from(mask),
        reward: Float64Array.from(reward),
        value: Float64Array.from(value),
        reportedAdvantage: Float64Array.from(advantage),
      },
    };
    return { form, batch };
  });
}
