import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { stepsOf } from '../../src/cli/steps-of.ts';
import { verifyFiles } from '../../src/cli/verify-files.ts';
import { joinParts, partOf } from '../../src/format/join-ranks.ts';
import { encodeStep } from '../../src/format/step-wire.ts';
import type { StepReport } from '../../src/step/model/step-report.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { exampleBatch, readOne } from '../step/sample-step.ts';

/** What one of the two ranks of the example recorded: `change` is made before it is read. */
function partOfRank(rank: number, change: (batch: ReturnType<typeof exampleBatch>) => void = () => {}) {
  const batch = exampleBatch();
  const [start, end] = rank === 0 ? [0, 3] : [3, 5];
  const { step, tokens } = batch;
  const { offset: _, ...columns } = tokens;
  const own = Object.fromEntries(
    Object.entries(columns).map(([key, column]) => [key, (column as number[]).slice(start, end)]),
  );
  Object.assign(batch, { group: ['task 1'], trajectory: [rank === 0 ? 'a' : 'b'], microBatch: [0] });
  batch.tokens = { offset: [0, end - start], ...own };
  batch.step = { ...step, run: 'run 1', reported: {}, microBatches: [{ rank, reportedDenominator: 5 }] };
  change(batch);
  return readOne(batch);
}

const counts = ({ stages }: StepReport, name: string) => {
  const { exact, wrong, unverifiable, lacks } = stages.find(({ stage }) => stage === name)!;
  return { exact, wrong, unverifiable, lacks };
};

test('the joined ranks of a step are verified as the step of all of them', () => {
  const [step, ...others] = joinParts([partOfRank(1), partOfRank(0)]);
  const report = verifyStep(step!);
  assert.equal(others.length, 0);
  assert.deepEqual([report.ok, report.rows, report.trained], [true, 2, 5]);
  assert.deepEqual(counts(report, 'denominator'), { exact: 2, wrong: 0, unverifiable: 0, lacks: [] });
  assert.deepEqual(step!.trajectory?.names, ['a', 'b']);
  assert.equal(partOf(step!), undefined);
});

test('a rank alone has no outcome for what all ranks divide by', () => {
  const report = verifyStep(partOfRank(0));
  const lacks = ['the files of 1 other of 2 ranks'];
  assert.deepEqual([report.ok, report.consistent], [false, true]);
  assert.deepEqual(counts(report, 'denominator'), { exact: 0, wrong: 0, unverifiable: 1, lacks });
  assert.deepEqual(counts(report, 'gradient'), { exact: 0, wrong: 0, unverifiable: 3, lacks });
});

for (const [name, second, code] of [
  ['a rank that is there twice', partOfRank(0), 'rank-repeated'],
  [
    'ranks with other settings',
    partOfRank(1, ({ step }) => {
      step.policyLoss = { name: 'ppo-clip', clipLow: 0.1, clipHigh: 0.1 };
    }),
    'ranks-disagree',
  ],
] as const) {
  test(`${name}: the parts stay apart, and each says why`, () => {
    const steps = joinParts([partOfRank(0), second]);
    assert.equal(steps.length, 2);
    for (const step of steps) {
      const report = verifyStep(step);
      assert.deepEqual(
        report.findings.map((finding) => finding.code),
        [code],
      );
      assert.equal(counts(report, 'denominator').unverifiable, 1);
    }
  });
}

test('the tokens of the rollout batch divide in proportion to the micro-batches of the step', () => {
  const part = (rank: number, tokens: number) =>
    partOfRank(rank, (batch) => {
      batch.step.window = { microBatches: 2, tokens };
      batch.step.aggregation = { mode: 'token-mean', scope: 'window' };
      batch.step.microBatches = [{ rank, reportedDenominator: 6 }];
      batch.tokens.lossGradient = (batch.tokens.lossGradient as number[]).map((value) => (value * 5) / 6);
    });
  const report = verifyStep(joinParts([part(0, 7), part(1, 5)])[0]!);
  assert.deepEqual([report.ok, counts(report, 'denominator').exact], [true, 2]);
});

test('a stated divisor is not compared with itself', () => {
  const report = verifyStep(
    readOne({
      ...exampleBatch(),
      step: { ...exampleBatch().step, aggregation: { mode: 'constant', denominator: 5 } },
    }),
  );
  const { exact, unverifiable, lacks } = counts(report, 'denominator');
  assert.deepEqual([exact, unverifiable, lacks.length], [0, 2, 1]);
});

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'echelon-ranks-'));
});
after(() => rmSync(folder, { recursive: true }));

function write(name: string, rank: number): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, encodeStep(partOfRank(rank)));
  return path;
}

async function verified(
  ...paths: string[]
): Promise<{ status: number; steps: (StepReport & { file: string })[] }> {
  let out = '';
  const io = { stdout: { write: (text: string) => (out += text) }, stderr: { write: () => {} } };
  const status = await verifyFiles(paths, { json: true, require: ['gradient', 'denominator'] }, io);
  return { status, steps: (JSON.parse(out) as { steps: (StepReport & { file: string })[] }).steps };
}

test('verify finds the files of the other ranks beside the one that is named, and explain reads them too', async () => {
  const first = write('beside/update-000040-rank-0.pb', 0);
  const second = write('beside/update-000040-rank-1.pb', 1);
  for (const paths of [[first], [second], [first, second], [dirname(first)]]) {
    const { status, steps } = await verified(...paths);
    assert.deepEqual([status, steps.length, steps[0]!.rows, steps[0]!.file], [0, 1, 2, first]);
  }
  assert.deepEqual(
    (await stepsOf(second))!.map(({ rows }) => rows),
    [2],
  );
});

test('files of nodes that were copied into folders of their own are joined', async () => {
  write('nodes/a/update-000040-rank-0.pb', 0);
  write('nodes/b/update-000040-rank-1.pb', 1);
  const nodes = join(folder, 'nodes');
  const { status, steps } = await verified(nodes);
  assert.deepEqual([status, steps.length, steps[0]!.file], [0, 1, nodes]);
  assert.deepEqual(
    (await stepsOf(nodes))!.map(({ rows }) => rows),
    [2],
  );
});
