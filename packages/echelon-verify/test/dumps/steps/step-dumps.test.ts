import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { anyAdapterFor, STEP_ADAPTERS } from '../../../src/dumps/steps/registry.ts';
import { BatchFormatError } from '../../../src/format/format-error.ts';
import type { StepBatch } from '../../../src/format/step-batch.ts';
import { identifyStep } from '../../../src/identify/steps/identify-step.ts';
import { isBfloat16 } from '../../../src/step/model/precision.ts';
import { verifyStep } from '../../../src/step/verify-step.ts';
import { pickled, torchFile } from '../../support/torch-bytes.ts';

const dump = (path: string) =>
  fileURLToPath(new URL(`../../../../../test/golden/dumps/${path}`, import.meta.url));

const TOKENS = ['rank_0', 'rank_1'].map((rank) => `token_exports/step_3/${rank}.jsonl`);
const ofRun = (name: string) => TOKENS.map((path) => dump(`prime-rl-tokens/${name}/${path}`));

async function stepsOf(name: string, files: readonly string[]): Promise<StepBatch[]> {
  const adapter = STEP_ADAPTERS.find((one) => one.name === name)!;
  return (await Array.fromAsync(adapter.steps(files))).map(({ step }) => step);
}

const nameOf = (found: Awaited<ReturnType<typeof anyAdapterFor>>) =>
  typeof found === 'object' ? found.name : found;

const outcomes = (step: StepBatch) =>
  Object.fromEntries(verifyStep(step).stages.map((stage) => [stage.stage, [stage.exact, stage.wrong]]));

test('ratios and clip sides of a token export of prime-rl are exact, and a changed one of each is wrong', async () => {
  const [right, ...none] = await stepsOf('prime-rl-tokens', ofRun('right'));
  assert.equal(none.length, 0);
  assert.deepEqual([right!.step.dataParallelSize, right!.step.microBatches.length], [2, 6]);
  assert.deepEqual(outcomes(right!), { ratio: [77, 0], clip: [77, 0], gradient: [0, 0], reported: [2, 0] });
  const [wrong] = await stepsOf('prime-rl-tokens', ofRun('wrong'));
  assert.deepEqual(outcomes(wrong!), { ratio: [76, 1], clip: [76, 1], gradient: [0, 0], reported: [1, 1] });
});

test('the mean loss that prime-rl reports is the sum by a number of micro-steps, some of which are not exported', async () => {
  const [step] = await stepsOf('prime-rl-tokens', ofRun('right'));
  const [loss, entropy] = verifyStep(step!).values;
  assert.deepEqual([loss!.name, loss!.outcome], ['loss', 'exact']);
  assert.deepEqual([entropy!.name, entropy!.outcome], ['entropy', 'exact']);
});

/** The step with another reported loss: that of the golden one is a mean over eight micro-steps, six of which are exported. */
async function withLoss(factor: number) {
  const [right] = await stepsOf('prime-rl-tokens', ofRun('right'));
  const { reported } = right!.step;
  const loss = { ...reported.loss!, value: factor * reported.loss!.value };
  const report = verifyStep({ ...right!, step: { ...right!.step, reported: { loss } } });
  return { outcome: report.values[0]!.outcome, findings: report.findings.map(({ code }) => code) };
}

test('a mean loss that no number of micro-steps gives is an error, and one that is possible is not', async () => {
  // Ten micro-steps of two ranks are possible, nine and fewer than the exported ones are not, and neither is a share of one.
  assert.deepEqual(await withLoss(8 / 10), { outcome: 'exact', findings: [] });
  for (const times of [9, 4, 1, 7.436, -8])
    assert.deepEqual(
      await withLoss(8 / times),
      { outcome: 'unverifiable', findings: ['mean-without-number'] },
      `${times}`,
    );
});

test('reported values of prime-rl without the file of a rank before another one are unverifiable and name it', async () => {
  const [step] = await stepsOf('prime-rl-tokens', [ofRun('right')[1]!]);
  const { values, findings } = verifyStep(step!);
  assert.deepEqual(
    values.map(({ outcome, lacks }) => [outcome, lacks]),
    values.map(() => ['unverifiable', ['the file of rank 0']]),
  );
  assert.deepEqual(
    findings.map(({ code, message }) => [code, /^There is no rank_0\.jsonl\./.test(message)]),
    [['rank-file-missing', true]],
  );
});

test('the highest rank that every step of prime-rl lacks is missed by the mean loss, and no other value is wrong without it', async () => {
  const [file] = ofRun('right');
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  await cp(dump('prime-rl-tokens/right'), folder, { recursive: true });
  await rm(join(folder, TOKENS[1]!));
  const [step] = await stepsOf('prime-rl-tokens', [file!.replace(dump('prime-rl-tokens/right'), folder)]);
  const { values, findings } = verifyStep(step!);
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['mean-without-number'],
  );
  assert.deepEqual(
    values.map(({ name, outcome }) => [name, outcome]),
    [
      ['loss', 'unverifiable'],
      ['entropy', 'unverifiable'],
    ],
  );
  assert.deepEqual(values[1]!.lacks, ['the micro-batches of all ranks, which the mean of loss contradicts']);
});

test('an entropy of prime-rl over other loss components is unverifiable', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  await cp(dump('prime-rl-tokens/right'), folder, { recursive: true });
  const files = TOKENS.map((path) => join(folder, path));
  for (const file of files) {
    const lines = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const line of lines) line.ce_weights = line.loss_mask.map(() => 0.5);
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  }
  const [step] = await stepsOf('prime-rl-tokens', files);
  assert.equal(verifyStep(step!).values.find(({ name }) => name === 'entropy')!.outcome, 'unverifiable');
});

test('other thresholds of prime-rl and its loss ipo, which the export does not name, make no token wrong', async () => {
  const [other] = await stepsOf('prime-rl-tokens', ofRun('threshold'));
  assert.deepEqual(outcomes(other!), { ratio: [77, 0], clip: [77, 0], gradient: [0, 0], reported: [2, 0] });
  assert.ok(
    verifyStep({ ...other!, step: { ...other!.step, policyLoss: { name: 'prime-rl', params: {} } } })
      .wrongTokens.length > 0,
  );
  const [ipo] = await stepsOf('prime-rl-tokens', ofRun('ipo'));
  assert.equal(ipo!.step.policyLoss, undefined);
  assert.deepEqual(outcomes(ipo!), { ratio: [77, 0], gradient: [0, 0], reported: [1, 0] });
});

test('a token export of prime-rl is known by its content, and the other dumps of steps only by their name', async () => {
  assert.equal(nameOf(await anyAdapterFor(ofRun('right')[0]!)), 'prime-rl-tokens');
  assert.equal(nameOf(await anyAdapterFor(dump('slime/train_data/0_0.pt'))), 'slime');
});

test('the command that the report of a wrong token export names explains the token', () => {
  const echelon = fileURLToPath(new URL('../../../../../bin/echelon', import.meta.url));
  const folder = dump('prime-rl-tokens/wrong');
  const run = (...args: string[]) =>
    execFileSync(echelon, args, { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  assert.throws(
    () => run('verify', folder),
    ({ status, stdout }: { status: number; stdout: string }) => {
      const [, command] = /Explain a wrong token with:\s+echelon (.+)/.exec(stdout)!;
      const words = command!.match(/'[^']*'|\S+/g)!.map((word) => word.replaceAll("'", ''));
      return status === 1 && run(...words).includes('is WRONG');
    },
  );
});

test('a training dump of NeMo-RL has the log-probs of both engines, and zeros in place of old ones are none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  const line = (old: number) => ({
    input_lengths: [3],
    token_ids: [[5, 6, 7, 0]],
    token_loss_mask: [[0, 1, 1, 0]],
    sample_loss_mask: [1],
    advantages: [[0.5, 0.5, 0.5, 0.5]],
    generation_logprobs: [[0, -1, -2, 0]],
    prev_logprobs: [[0, old, old, 0]],
  });
  for (const old of [0, -1]) {
    const file = join(folder, `train_data_step${1 - old}.jsonl`);
    await writeFile(file, `${JSON.stringify(line(old))}\n`);
    const [step] = await stepsOf('nemo-rl-steps', [file]);
    assert.deepEqual([...step!.tokens.rolloutLogProb!], [0, -1, -2]);
    assert.deepEqual(
      step!.tokens.oldLogProb && [...step!.tokens.oldLogProb],
      old === 0 ? undefined : [0, -1, -1],
    );
    assert.equal(verifyStep(step!).trained, 2);
  }
});

test('a training dump of slime has its old log-probs and masks', async () => {
  const [step] = await stepsOf('slime-steps', [dump('slime/train_data/0_0.pt')]);
  assert.deepEqual(Object.keys(step!.tokens), ['offset', 'mask', 'oldLogProb', 'reportedAdvantage']);
  assert.equal(verifyStep(step!).trained, 24);
});

const ofLayout = (name: string) => stepsOf('slime-steps', [dump(`slime-layout/${name}/train_data/7_0.pt`)]);
const denominators = (step: StepBatch) =>
  verifyStep(step).stages.find(({ stage }) => stage === 'denominator')!;

test('a training dump of slime has its optimizer steps with the micro-batches of two ranks, and every denominator is exact', async () => {
  const steps = await ofLayout('right');
  assert.deepEqual(
    steps.map(({ name, rows, microBatch, step }) => [
      name,
      rows,
      [...microBatch!].join(''),
      step.dataParallelSize,
    ]),
    [
      ['step 7.1', 7, '0022113', 2],
      ['step 7.2', 7, '0021231', 2],
    ],
  );
  for (const step of steps) {
    const { exact, wrong, unverifiable } = denominators(step);
    assert.deepEqual([exact, wrong, unverifiable], [step.rows + 4, 0, 0]);
    assert.equal(step.group!.names.length, 5);
  }
});

test('denominators of slime that count one sample of a rollout in place of all are wrong, and identify names the count', async () => {
  const [step] = await ofLayout('wrong');
  const { exact, wrong } = denominators(step!);
  assert.deepEqual([exact, wrong], [7, 4]);
  assert.match(
    identifyStep(step!).clues.join(),
    /row 0 divides by \d+, expected \d+: tokens counted by mask, of the row/,
  );
});

test('denominators of slime from before a function of the user masked tokens are unverifiable, and name the mask', async () => {
  for (const step of await ofLayout('masked')) {
    const { exact, wrong, lacks } = denominators(step);
    assert.deepEqual([exact, wrong, lacks], [0, 0, ['tokens.mask']]);
  }
});

test('a training batch of SkyRL has the log-probs of its response tokens, in float32 and bfloat16', async () => {
  const file = dump('skyrl/dumped_data/global_step_4_training_input.pkl');
  assert.equal(nameOf(await anyAdapterFor(file)), 'skyrl-steps');
  const [step] = await stepsOf('skyrl-steps', [file]);
  const { tokens, rows, name } = step!;
  assert.deepEqual(
    [name, rows, tokens.id![0], tokens.offset[rows]],
    ['step 4', 8, 3, tokens.oldLogProb!.length],
  );
  assert.ok(tokens.oldLogProb!.every((value) => value < 0) && tokens.rolloutLogProb !== undefined);
  assert.ok(isBfloat16(tokens.referenceLogProb!) && !isBfloat16(tokens.oldLogProb!));
});

test('a damaged training batch of SkyRL is unreadable', async () => {
  const bytes = await readFile(dump('skyrl/dumped_data/global_step_4_training_input.pkl'));
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  for (const length of [300, 2000, bytes.length - 1]) {
    const file = join(folder, 'global_step_1_training_input.pkl');
    await writeFile(file, bytes.subarray(0, length));
    await assert.rejects(stepsOf('skyrl-steps', [file]), BatchFormatError);
  }
  // The first tensor has a ten-thousandth of a column, which would make ten thousand rows of each number.
  const shape = bytes.indexOf(Buffer.from([0x4b, 8, 0x4b]));
  const width = Buffer.alloc(9, 'G');
  width.writeDoubleBE(1e-4, 1);
  const wider = Buffer.concat([bytes.subarray(0, shape + 2), width, bytes.subarray(shape + 4)]);
  wider.writeBigUInt64LE(wider.readBigUInt64LE(3) + 7n, 3);
  const file = join(folder, 'global_step_1_training_input.pkl');
  await writeFile(file, wider);
  await assert.rejects(stepsOf('skyrl-steps', [file]), /a tensor of 0\.0001 columns/);
});

test('a sample that the layout of slime places twice is trained twice, and two samples in one place are refused', async () => {
  const { dict, list, int, float } = pickled;
  const sample = (position: number) =>
    dict({
      rollout_position: int(position),
      loss_masks: list(int(1), int(1)),
      advantages: list(float(1), float(1)),
    });
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  const write = async (samples: Buffer[], partition: number[]) => {
    const shard = dict({
      partition: list(...partition.map(int)),
      micro_batch_indices: list(list(...partition.map((_, at) => int(at)))),
      num_microbatches: list(int(1)),
      global_batch_sizes: list(int(2)),
    });
    const file = join(folder, '7_0.pt');
    await writeFile(file, torchFile(dict({ samples: list(...samples), dp_shards: list(shard) })));
    return await stepsOf('slime-steps', [file]);
  };
  const onceOf = (step: StepBatch) => verifyStep(step).stages.find(({ stage }) => stage === 'once');
  const [right] = await write([sample(0), sample(1)], [0, 1]);
  assert.deepEqual([right!.rows, onceOf(right!)], [2, undefined]);
  const [twice] = await write([sample(0), sample(1)], [0, 1, 1]);
  assert.deepEqual([twice!.rows, onceOf(twice!)!.exact, onceOf(twice!)!.wrong], [3, 4, 2]);
  await assert.rejects(write([sample(0), sample(0)], [0, 1]), /two samples with rollout_position 0/);
});

/** A token export of prime-rl in a folder of its own, each line changed. */
async function changedExport(
  change: (line: Record<string, unknown>, rank: number, row: number) => Record<string, unknown>,
): Promise<{ folder: string; files: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  await cp(dump('prime-rl-tokens/right'), folder, { recursive: true });
  const files = TOKENS.map((path) => join(folder, path));
  for (const [rank, file] of files.entries()) {
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    const own = lines.map((line, row) => change(JSON.parse(line), rank, row));
    await writeFile(file, own.map((line) => JSON.stringify(line)).join('\n'));
  }
  return { folder, files };
}

test('columns of prime-rl that are absent, of another type or not finite are three different things', async () => {
  const read = async (key: string, value: (list: unknown[]) => unknown) => {
    const { files } = await changedExport((line, rank, row) =>
      rank === 1 && row === 1 ? { ...line, [key]: value(line[key] as unknown[]) } : line,
    );
    return stepsOf('prime-rl-tokens', files);
  };
  const [absent] = await read('entropy', () => undefined);
  assert.equal(absent!.tokens.entropy, undefined);
  const [infinite] = await read('trainer_logprobs', (list) => [null, ...list.slice(1)]);
  assert.equal(infinite!.tokens.logProb!.filter(Number.isNaN).length, 1);
  for (const [key, value, found] of [
    [
      'trainer_logprobs',
      (list: unknown[]) => list.map(String),
      /row 1, trainer_logprobs\[0\]: expected a number, found "/,
    ],
    ['advantages', () => 0.5, /row 1, advantages: expected a list of numbers, found 0\.5/],
    [
      'token_ids',
      (list: unknown[]) => [null, ...list.slice(1)],
      /row 1, token_ids\[0\]: expected an integer, found null/,
    ],
    [
      'loss_mask',
      (list: unknown[]) => [2, ...list.slice(1)],
      /row 1, loss_mask\[0\]: expected true, false, 1 or 0/,
    ],
    [
      'advantages',
      (list: unknown[]) => list.slice(1),
      /row 1, advantages: expected \d+ entries, as loss_mask has/,
    ],
    ['micro_step', () => 65536, /row 1, micro_step: expected an integer from 0 to 65535, found 65536/],
    ['micro_step', () => '1', /row 1, micro_step: expected a number, found "1"/],
  ] as const)
    await assert.rejects(read(key, value), found);
});

test('values of NeMo-RL of another type are refused with their row, and one that is absent is not recorded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  const read = async (changes: object) => {
    const line = {
      input_lengths: [3],
      token_ids: [[5, 6, 7, 0]],
      token_loss_mask: [[0, 1, 1, 0]],
      advantages: [0.5],
      generation_logprobs: [[0, -1, -2, 0]],
      ...changes,
    };
    const file = join(folder, 'train_data_step1.jsonl');
    await writeFile(file, `${JSON.stringify(line)}\n`);
    return stepsOf('nemo-rl-steps', [file]);
  };
  const [step] = await read({ generation_logprobs: [[0, null, -2, 0]] });
  assert.deepEqual([...step!.tokens.reportedAdvantage!], [0.5, 0.5, 0.5]);
  assert.ok(Number.isNaN(step!.tokens.rolloutLogProb![1]));
  assert.equal((await read({ generation_logprobs: undefined }))[0]!.tokens.rolloutLogProb, undefined);
  for (const [changes, found] of [
    [
      { generation_logprobs: [[0, '-1', -2, 0]] },
      /row 0, generation_logprobs\[1\]: expected a number, found "-1"/,
    ],
    [{ token_loss_mask: [[0, 0.5, 1, 0]] }, /row 0, token_loss_mask\[1\]: expected true, false, 1 or 0/],
    [{ generation_logprobs: [[0, -1]] }, /row 0, generation_logprobs: expected 3 entries/],
  ] as const)
    await assert.rejects(read(changes), found);
});

test('the file of a rank that other steps of prime-rl have is missed in a step without it', async () => {
  const { folder, files } = await changedExport((line) => line);
  const later = join(folder, 'token_exports/step_4');
  await cp(join(folder, 'token_exports/step_3'), later, { recursive: true });
  await rm(join(later, 'rank_1.jsonl'));
  const [whole, part] = await stepsOf('prime-rl-tokens', [...files, join(later, 'rank_0.jsonl')]);
  assert.deepEqual(verifyStep(whole!).findings, []);
  const codes = verifyStep(part!).findings.map(({ code }) => code);
  assert.deepEqual(codes, ['rank-file-missing']);
});

test('the loss of prime-rl is that of the configuration of the run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  await cp(dump('prime-rl-tokens/ipo'), folder, { recursive: true });
  const read = async (config: string) => {
    await writeFile(join(folder, 'trainer.toml'), config);
    const [step] = await stepsOf(
      'prime-rl-tokens',
      TOKENS.map((path) => join(folder, path)),
    );
    return { loss: step!.step.policyLoss, values: verifyStep(step!).values };
  };
  const ipo = await read('[loss]\ntype = "ipo"\nipo_threshold = 0.1\nadv_tau = 1.0\nkl_tau = 0.001\n');
  assert.deepEqual(ipo.loss, { name: 'prime-rl-ipo', params: { threshold: 0.1, klTau: 0.001, advTau: 1 } });
  assert.deepEqual(
    ipo.values.map(({ name, outcome }) => [name, outcome]),
    [
      ['loss', 'exact'],
      ['entropy', 'exact'],
    ],
  );
  const other = await read('[loss]\ntype = "ipo"\nadv_tau = 1.5\n');
  assert.notEqual(other.values[0]!.outcome, 'exact');
  const own = await read('[loss]\ntype = "custom"\nimport_path = "mine.loss"\n');
  assert.equal(own.loss, undefined);
});

test('weights of the losses of prime-rl multiply them, and a changed one contradicts the mean loss', async () => {
  const [right] = await stepsOf('prime-rl-tokens', ofRun('weights'));
  const report = verifyStep(right!);
  assert.deepEqual(
    report.values.map(({ name, outcome }) => [name, outcome]),
    [
      ['loss', 'exact'],
      ['entropy', 'unverifiable'],
    ],
  );
  assert.deepEqual(report.findings, []);
  assert.deepEqual(new Set(right!.tokens.rolloutWeight), new Set([0, 0.5, 1, 2]));
  assert.ok(report.coverage.missing.some(({ stage }) => stage === 'weight'));
  const rolloutWeight = right!.tokens.rolloutWeight!.map((weight) => (weight === 2 ? 1 : weight));
  const wrong = verifyStep({ ...right!, tokens: { ...right!.tokens, rolloutWeight } });
  assert.deepEqual(
    wrong.findings.map(({ code }) => code),
    ['mean-without-number'],
  );
});

test('a mean loss of prime-rl that has other loss components is unverifiable', async () => {
  for (const key of ['ce_weights', 'ref_kl_weights']) {
    const { files } = await changedExport((line) => ({
      ...line,
      [key]: (line.loss_mask as boolean[]).map(() => 0.5),
    }));
    const report = verifyStep((await stepsOf('prime-rl-tokens', files))[0]!);
    assert.deepEqual(report.values[0]!.lacks, ['the other loss components']);
    assert.deepEqual(report.findings, []);
  }
});

test('the boundaries of a training batch of SkyRL are its optimizer steps, and added rows must not be trained', async () => {
  const { dict, list, tuple, int, text, bytes, call, global } = pickled;
  const module = 'skyrl.backends.skyrl_train.training_batch';
  const matrix = (rows: readonly (readonly number[])[]) =>
    dict({
      data: bytes(Buffer.from(Float32Array.from(rows.flat()).buffer)),
      dtype: text('float32'),
      shape: tuple(int(rows.length), int(rows[0]!.length)),
      format: text('numpy'),
    });
  const folder = await mkdtemp(join(tmpdir(), 'step-dumps-'));
  after(() => rm(folder, { recursive: true }));
  const read = async (masks: readonly number[], ranges: readonly (readonly [number, number])[]) => {
    const rows = masks.map((mask) => [mask, mask]);
    const tensors = dict({ response_mask: matrix(masks.map(() => [1, 1])), loss_mask: matrix(rows) });
    const metadata = dict({
      pad_size: int(1),
      policy_mini_batch_boundaries: list(...ranges.map(([start, end]) => tuple(int(start), int(end)))),
    });
    const batch = call(
      global(module, '_rebuild_tensor_batch'),
      global(module, 'TrainingInputBatch'),
      dict({ batch_dict: tensors, metadata }),
    );
    const file = join(folder, 'global_step_2_training_input.pkl');
    await writeFile(file, Buffer.concat([Buffer.from([0x80, 2]), batch, Buffer.from('.')]));
    const steps = await stepsOf('skyrl-steps', [file]);
    return steps.map((step) => [step.name, step.rows, ...(step.findings ?? []).map(({ code }) => code)]);
  };
  assert.deepEqual(
    await read(
      [1, 1, 1, 1, 0],
      [
        [0, 2],
        [2, 4],
      ],
    ),
    [
      ['step 2.1', 2],
      ['step 2.2', 2],
    ],
  );
  assert.deepEqual(await read([1, 1, 1, 1, 1], [[0, 4]]), [['step 2', 4, 'padding-trained']]);
  assert.deepEqual(await read([1, 1, 1, 1, 0], [[0, 3]]), [['step 2', 3, 'rows-untrained']]);
});
