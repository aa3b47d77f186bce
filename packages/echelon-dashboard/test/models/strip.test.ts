import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restartInWords, restartsOf } from 'echelon-client/restarts';
import { cellsOf, settledPages, stagesOf } from '../../src/models/strip.ts';
import { wrongSignalOf } from '../../src/models/wrong-signal.ts';

const batch = (number: number, wrong = 0) => ({
  attempt: 1,
  batch: number,
  step: number,
  rows: 10,
  verification: {
    ...{ ok: wrong === 0, exact: 10 - wrong, rounding: 0, wrong, unverifiable: 0 },
    ...{ findings: [] as string[], errors: [] as string[] },
  },
});

test('each batch has a cell if there is room', () => {
  const cells = cellsOf([batch(1), batch(2, 3), { ...batch(3), verification: null }]);
  assert.deepEqual(
    cells.map(({ worst }) => worst),
    ['exact', 'wrong', null],
  );
  assert.equal(cells[1]!.label, 'batch 2, step 2: 7 exact, 3 wrong');
});

test('a batch that contradicts itself has a wrong cell with the reason, and the banner tells it', () => {
  const wrong = batch(2);
  wrong.verification.errors = ['steps-out-of-order'];
  const cell = cellsOf([batch(1), wrong])[1]!;
  assert.deepEqual([cell.worst, cell.label], ['wrong', 'batch 2, step 2: 10 exact; steps-out-of-order']);
  assert.deepEqual(wrongSignalOf([batch(1), wrong, { ...wrong, batch: 3 }]), {
    first: wrong,
    contradictions: ['steps-out-of-order in 2 batches'],
  });
  assert.deepEqual(wrongSignalOf([batch(1), batch(2, 1)]).contradictions, []);
});

test('a cell of several batches shows and opens the worst of them', () => {
  const cells = cellsOf([batch(1), batch(2), batch(3, 1), batch(4)], undefined, 2);
  assert.deepEqual(
    cells.map(({ worst, batches, target }) => [worst, batches, target.batch]),
    [
      ['exact', 2, 1],
      ['wrong', 2, 3],
    ],
  );
});

test('a stage of optimizer steps has a strip of its own, without cells of an outcome that a step does not report', () => {
  const step = (number: number, stages: Record<string, 'exact' | 'wrong'>) => {
    const { verification, ...one } = batch(number, 1);
    return { ...one, verification: { ...verification, stages } };
  };
  const steps = [step(1, { ratio: 'exact', gradient: 'wrong' }), step(2, { gradient: 'exact' })];
  assert.deepEqual(stagesOf([batch(3), ...steps]), ['ratio', 'gradient']);
  const of = (stage: string) => cellsOf(steps, stage).map(({ worst, label }) => [worst, label]);
  assert.deepEqual(of('ratio'), [
    ['exact', 'batch 1, step 1: ratio exact'],
    [null, 'batch 2, step 2: ratio not reported'],
  ]);
  assert.deepEqual(of('gradient')[0], ['wrong', 'batch 1, step 1: gradient wrong']);
});

test('full pages of final reports are settled; a page with another batch and all pages after it are not', () => {
  const page = (numbers: number[], next: string | null) => ({
    items: numbers.map((one) => batch(one)),
    next,
  });
  const [first, second, last] = [page([1, 2], 'a'), page([3, 4], 'b'), page([5], null)];
  assert.deepEqual(settledPages([first, second, last]), [first, second]);
  const unverified = { items: [{ ...batch(1), verification: null }, batch(2)], next: 'a' };
  assert.deepEqual(settledPages([unverified, second, last]), []);
  assert.deepEqual(settledPages([first, second]), [first, second]);
  const unverifiable = {
    ...batch(4),
    verification: { ...batch(4).verification, findings: ['not-verifiable'] },
  };
  const third = { items: [batch(3), unverifiable], next: 'b' };
  assert.deepEqual(settledPages([first, third, last]), [first], 'its batch may be verified again');
  assert.deepEqual(settledPages([]), []);
});

test('a restart is at the first step of its attempt and counts the steps that were trained before', () => {
  const of = (attempt: number, step: number) => ({ attempt, step });
  const batches = [of(1, 1), of(1, 2), of(1, 3), of(2, 2), of(2, 3), of(2, 4), of(3, 5)];
  assert.deepEqual(restartsOf(batches), [
    { attempt: 2, step: 2, repeated: 2 },
    { attempt: 3, step: 5, repeated: 0 },
  ]);
  assert.deepEqual(restartsOf([]), []);
  assert.equal(restartInWords(restartsOf(batches)[0]!), 'attempt 2 starts at step 2, 2 steps trained again');
});
