import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { encodeStep } from '../../src/format/step-wire.ts';
import { bundle, explain, rows, tokens, verify } from '../../src/pool/tasks.ts';
import { PLANTED } from '../step/planted.ts';
import { goldenBatch } from '../support/golden-batches.ts';

const wire = encodeBatch(goldenBatch('alfworld-scale'));

describe('tasks of a child process', () => {
  test('a report within the budget, an unverified one beyond it', () => {
    const answer = verify({ wire, budgetBytes: 2 ** 28 });
    assert.ok('value' in answer && answer.value.ok);
    const poor = verify({ wire, budgetBytes: 2 ** 18 });
    assert.ok('value' in poor);
    assert.deepEqual([poor.value.unverifiable, poor.value.findings[0]?.code], [4621, 'budget-exceeded']);
    assert.match(poor.value.fingerprint, /^hgpo\(/);
  });

  test('an explanation, or that there is no such row', () => {
    const answer = explain({ wire, budgetBytes: 2 ** 28, row: 3 });
    assert.ok('value' in answer && answer.value.row === 3);
    assert.ok('outOfRange' in explain({ wire, budgetBytes: 2 ** 28, row: 4621 }));
    assert.ok('outOfRange' in explain({ wire, budgetBytes: 2 ** 28 }));
  });

  test('an optimizer step: outcomes of its rows, the arithmetic that explains it, and the chain of its first wrong token', () => {
    const batch = PLANTED.find(({ named }) =>
      named?.source.startsWith('token-mean per micro-batch; you'),
    )!.batch();
    const task = { wire: encodeStep(batch), budgetBytes: 2 ** 28 };
    const found = verify(task);
    assert.ok('value' in found && 'step' in found.value);
    const { exact, rounding, wrong, unverifiable, findings, wrongRows } = found.value;
    assert.equal(exact + rounding + wrong + unverifiable, batch.rows);
    assert.ok(wrong > 0 && !found.value.ok);
    assert.match(findings.find(({ code }) => code === 'arithmetic-identified')!.message, /per micro-batch/);
    const row = wrongRows[0]!;
    const token = explain({ ...task, row });
    assert.ok('value' in token && 'breaks' in token.value && token.value.breaks === 'gradient');
    const columns = tokens({ ...task, row });
    assert.ok('value' in columns);
    assert.equal(columns.value.breaks[token.value.token], 'gradient');
    assert.equal(columns.value.microBatches.length, batch.step.microBatches.length);
    assert.ok('outOfRange' in rows(task));
    assert.ok('outOfRange' in tokens({ wire, budgetBytes: 2 ** 28, row: 0 }));
  });

  test('rows as JSON, or that there are no such rows', () => {
    const answer = rows({ wire, budgetBytes: 2 ** 28, query: { first: 2, count: 1 } });
    assert.ok('value' in answer);
    assert.deepEqual(JSON.parse(new TextDecoder().decode(answer.value)).row, [2]);
    const beyond = { first: 0, count: 1, sameStateAs: 4621 };
    assert.ok('outOfRange' in rows({ wire, budgetBytes: 2 ** 28, query: beyond }));
  });

  test('a bundle, or a fault', () => {
    const origin = {
      ...{ experiment: 'e', attempt: 1, batch: 1, step: 1, digest: '', report: null, version: '0' },
    };
    const made = bundle({ wire, budgetBytes: 2 ** 28, origin });
    assert.ok('value' in made && made.value[0] === 0x1f);
    assert.ok('fault' in bundle({ wire: new Uint8Array([10, 99]), budgetBytes: 2 ** 28, origin }));
  });

  test('a fault is an answer that survives the way between processes', () => {
    const answer = verify({ wire: new Uint8Array([10, 99]), budgetBytes: 2 ** 28 });
    assert.ok('fault' in answer);
    assert.equal(structuredClone(answer).fault.code, 'unreadable');
  });
});
