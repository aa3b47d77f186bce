import { readFileSync } from 'node:fs';
import type { Batch } from '../../src/format/batch.ts';
import { ofTokenColumns } from '../../src/format/tokens.ts';
import { knownForm } from '../../src/identify/fingerprints.ts';
import { estimatorOfForm } from '../../src/identify/identify.ts';
import type { TokenInputName } from '../../src/kernel/stages/token-sequences.ts';

interface GoldenTokens {
  readonly inputs: readonly ({
    readonly name: string;
    readonly lengths: readonly number[];
    readonly mask: readonly number[];
    /** One entry per response, as `rewardBaseline`. */
    readonly group: readonly number[];
  } & Readonly<Record<TokenInputName, readonly number[]>>)[];
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
    const { lengths, mask, group, ...columns } = inputs.find(({ name }) => name === input)!;
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
      group: Int32Array.from(group),
      groupNames: ['prompt', 'prompt of one response'],
      trajectory: ids,
      trajectoryNames: Array.from(ids, (row) => `response ${row}`),
      step: new Int32Array(rows),
      observationLabel: String,
      rewardBaseline: Float64Array.from(columns.rewardBaseline),
      tokens: {
        offset,
        mask: Uint8Array.from(mask),
        ...ofTokenColumns((name) => Float64Array.from(columns[name])),
        reportedAdvantage: Float64Array.from(advantage),
      },
    };
    return { form, batch };
  });
}
