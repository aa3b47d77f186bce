/**
 * ROLL's RLVR pipeline with `rollout_dump_dir`: `rollout_dump_data.step_N.jsonl`, one table of columns in one line. Groups are
 * blocks of `num_return_sequences_in_group` rows with one prompt. No advantages. Its agentic pipeline writes no scores.
 */

import { present } from '../base/present.ts';
import { BatchFormatError } from '../format/format-error.ts';
import type { DumpAdapter, DumpOptions, DumpStep } from './adapter.ts';
import { numbersIn, rewardsOf } from './cells.ts';
import { formsOf } from './dump-batch.ts';
import { type Line, linesOf } from './json-lines.ts';
import { promptBlocksStep } from './prompt-blocks.ts';
import { pickedLine } from './records.ts';
import { numberOf, promptKey } from './rewards.ts';
import { openSource } from './source.ts';

/** See the head of this file. */
export const ROLL: DumpAdapter = {
  name: 'roll',
  title: 'ROLL rollouts (JSON lines)',
  matches: ({ keys }) => ['prompt', 'responses', 'scores'].every((key) => keys?.get(key) === 'array'),
  estimators: formsOf('roll'),
  async *steps(files, options) {
    for (const file of files) {
      await using source = await openSource(file);
      for await (const line of linesOf(source)) yield readStep(file, line, options);
    }
  },
};

function readStep(file: string, line: Line, options: DumpOptions): DumpStep {
  const columns = pickedLine(file, line, { global_step: true, prompt: true, scores: true });
  const { global_step: steps, prompt, scores } = columns as Record<string, unknown>;
  if (!Array.isArray(prompt) || !Array.isArray(scores) || prompt.length !== scores.length) {
    const field = `line ${line.number}`;
    const expected = 'lists prompt and scores of one length';
    throw new BatchFormatError({ code: 'invalid', file, field, expected });
  }
  const rowName = (row: number) => `line ${line.number}, row ${row}`;
  const { reward, unrewarded } = rewardsOf(numbersIn(scores, 'scores', { file, rowName }));
  return promptBlocksStep(
    {
      file,
      trainingStep: numberOf([steps].flat()[0]),
      prompts: prompt.map(promptKey),
      rewards: [{ name: 'scores', value: reward }],
      ...present({ unrewarded }),
    },
    options,
  );
}
