import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeBatch } from '../../src/format/wire.ts';
import { bundle, explain, rows, verify } from '../../src/pool/tasks.ts';
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
