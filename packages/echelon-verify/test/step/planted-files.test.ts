import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STEP_ADAPTERS } from '../../src/dumps/steps/registry.ts';
import { foundBy } from './detection.ts';
import { PLANTED } from './planted.ts';
import { FILES, type FileFormat, inFiles, withoutBug } from './planted-files.ts';

const dump = (path: string) =>
  fileURLToPath(new URL(`../../../../test/golden/dumps/${path}`, import.meta.url));

/** Files of the trainers, and the names of their readers. */
const GOLDEN: Readonly<Record<FileFormat, { adapter: string; files: readonly string[] }>> = {
  'prime-rl': {
    adapter: 'prime-rl-tokens',
    files: [0, 1].map((rank) => dump(`prime-rl-tokens/right/token_exports/step_3/rank_${rank}.jsonl`)),
  },
  SkyRL: { adapter: 'skyrl-steps', files: [dump('skyrl/dumped_data/global_step_4_training_input.pkl')] },
  slime: { adapter: 'slime-steps', files: [dump('slime-layout/right/train_data/7_0.pt')] },
  'NeMo-RL': { adapter: 'nemo-rl-steps', files: [] },
};

async function nemoRl(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'planted-files-'));
  after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'train_data_step1.jsonl');
  const line = {
    token_ids: [[5, 6]],
    token_loss_mask: [[0, 1]],
    advantages: [[0.5, 0.5]],
    generation_logprobs: [[0, -1]],
    prev_logprobs: [[0, -1]],
  };
  await writeFile(file, `${JSON.stringify(line)}\n`);
  return file;
}

for (const [format, { adapter, files }] of Object.entries(GOLDEN))
  test(`a step file of ${format} has the columns into which bugs are planted`, async () => {
    const reader = STEP_ADAPTERS.find(({ name }) => name === adapter)!;
    const [first] = await Array.fromAsync(reader.steps(files.length > 0 ? files : [await nemoRl()]));
    const { offset: _, ...columns } = first!.step.tokens;
    const { tokens, layout, loss, denominators } = FILES[format as FileFormat];
    assert.deepEqual(Object.keys(columns).toSorted(), [...tokens].toSorted());
    const { microBatches, reported, aggregation } = first!.step.step;
    assert.equal(aggregation !== undefined && microBatches.length > 1, layout);
    assert.equal(reported.loss !== undefined, loss);
    assert.equal(
      microBatches.every((one) => one.reportedDenominator !== undefined),
      denominators,
    );
  });

test('no step without a bug is wrong in the files of the trainers', () => {
  for (const planted of PLANTED) {
    const right = withoutBug(planted);
    if (right === undefined) continue;
    for (const [format, report] of inFiles(right))
      assert.deepEqual(foundBy(report), [], `${planted.source} in ${format}`);
  }
});

test('what the two engines disagree about is found in the files of all trainers', () => {
  const found = PLANTED.filter((planted) =>
    inFiles(planted).every(([, report]) => foundBy(report).length > 0),
  );
  assert.deepEqual(
    found.map(({ source }) => source),
    [
      'rLLM #816',
      'slime #1995',
      'slime #245',
      'TRL #6789',
      'TRL #4159; NeMo-RL #3392; prime-rl #697; verl #3133; slime #557',
      'ms-swift #8427; SkyRL #1367',
      'NeMo-RL #3297',
    ],
  );
});
