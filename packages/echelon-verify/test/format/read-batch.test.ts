import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import type { BatchFault } from '../../src/format/format-error.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { readBatches } from '../../src/format/read-batch.ts';
import { sampleBatch, sampleFile } from '../sample-batch.ts';
import { parametersOf } from '../support/stated.ts';

const golden = (name: string) => readFileSync(new URL(`../../../../test/golden/${name}`, import.meta.url));

/** Reading must fail, and say this much about it. */
function refused(bytes: Uint8Array, fault: Partial<BatchFault>): void {
  assert.throws(
    () => readBatches(bytes, 'dump.json'),
    (error) => {
      assert.ok(error instanceof BatchFormatError, String(error));
      assert.equal(error.file, 'dump.json');
      for (const [key, value] of Object.entries(fault)) assert.equal(error[key as keyof BatchFault], value);
      return true;
    },
  );
}

describe('readBatches', () => {
  test('reads every golden file, all columns at full length', () => {
    const counts = [
      ['hgpo.json', 45],
      ['gigpo-grpo.json', 28],
      ['hgpo-large.json.gz', 1],
      ['real-alfworld.json.gz', 3],
      ['real-taubench.json.gz', 3],
    ] as const;
    for (const [file, count] of counts) {
      const batches = readBatches(golden(file), file);
      assert.equal(batches.length, count);
      for (const batch of batches) {
        const { rows, group, trajectory, step, observation, reward, reportedAdvantage } = batch;
        for (const column of [group, trajectory, step, observation, reward, reportedAdvantage]) {
          assert.equal(column?.length, rows);
        }
      }
    }
  });

  test('reads a batch, plain or in gzip', () => {
    for (const bytes of [sampleFile(), gzipSync(sampleFile())]) {
      const [batch] = readBatches(bytes, 'dump.json');
      assert.equal(batch?.name, 'two');
      assert.deepEqual(Array.from(batch?.trajectory ?? []), [0, 0, 1, 1]);
      assert.deepEqual(batch?.trajectoryNames, ['a', 'b']);
      assert.deepEqual(Array.from(batch?.observation ?? []), [0, 1, 0, 1]);
      assert.equal(batch?.observationLabel(1), 'end');
      assert.deepEqual(Array.from(batch?.actionValid ?? []), [1, 1, 0, 1]);
      assert.equal(batch?.estimator.name, 'hgpo');
      assert.equal(parametersOf(batch!.estimator).historyLength, 1);
      assert.equal(batch?.estimator.precision, 'float32');
    }
  });

  test('without a name, or with an empty one as the writer for trainers leaves it, it has its place for a name', () => {
    for (const name of [undefined, null, ''])
      assert.equal(readBatches(sampleFile({ name }), 'f')[0]?.name, '#0');
  });

  test('columns that are not there stay undefined; the empty batch is one', () => {
    const { params } = sampleBatch();
    const bare = { name: 'bare', params, group: [], trajectory: [] };
    const [batch] = readBatches(
      Buffer.from(JSON.stringify({ format: 'echelon-batch/1', batches: [bare] })),
      'f',
    );
    assert.equal(batch?.rows, 0);
    for (const field of [
      'step',
      'observation',
      'reward',
      'actionValid',
      'reportedAdvantage',
      'note',
    ] as const) {
      assert.ok(!(field in (batch ?? {})), field);
    }
  });

  test('reported numbers are rounded to float32 unless the batch says float64', () => {
    const reported = { advantage: [0.1, null, 0, 0] };
    const read = (params: object) =>
      readBatches(
        sampleFile({ reported, params: { ...(sampleBatch().params as object), ...params } }),
        'f',
      )[0]!.reportedAdvantage!;
    assert.deepEqual(Array.from(read({})), [Math.fround(0.1), Number.NaN, 0, 0]);
    assert.deepEqual(Array.from(read({ precision: 'float64' })), [0.1, Number.NaN, 0, 0]);
  });
});

describe('readBatches: bad files', () => {
  test('cut off, empty, not JSON, another format', () => {
    refused(sampleFile().subarray(0, 300), { code: 'unreadable' });
    refused(gzipSync(sampleFile()).subarray(0, 100), {
      code: 'unreadable',
      expected: 'a complete gzip file',
    });
    refused(new Uint8Array(0), { code: 'unreadable', found: 'an empty file' });
    refused(Buffer.from('[]'), { code: 'invalid' });
    refused(Buffer.from('{"format":"other/1","batches":[]}'), {
      field: 'format',
      expected: '"echelon-batch/1" or "echelon-batch/2"',
    });
    refused(Buffer.from('{"format":"echelon-batch/1"}'), { field: 'batches' });
    refused(Buffer.from('{"format":"echelon-batch/1","batches":[7]}'), { batch: '#0' });
  });

  test('a column of another length names batch, column and both lengths', () => {
    refused(sampleFile({ reward: [1, 2] }), {
      code: 'wrong-length',
      batch: 'two',
      field: 'reward',
      expected: '4 entries, one per row',
      found: '2',
    });
    refused(sampleFile({ trajectory: ['a'] }), { field: 'trajectory' });
    refused(sampleFile({ reported: { advantage: [1] } }), { field: 'reported.advantage' });
  });

  test('values of another kind name the row', () => {
    refused(sampleFile({ reward: [0, '8', 0, 0] }), { field: 'reward[1]', found: '"8"' });
    refused(sampleFile({ step: [0, 1.5, 0, 1] }), { field: 'step[1]', found: 'number 1.5' });
    refused(sampleFile({ step: [0, 1, 0, 2 ** 31] }), { field: 'step[3]' });
    refused(sampleFile({ step: [0, -1, 0, 1] }), { field: 'step[1]' });
    refused(sampleFile({ actionValid: [true, 'no', true, true] }), { field: 'actionValid[1]' });
    refused(sampleFile({ group: ['g', null, 'g', 'g'] }), { field: 'group[1]' });
    refused(sampleFile({ group: 'g' }), { field: 'group' });
  });

  test('a history length out of bounds, an unknown mode or key', () => {
    const params = sampleBatch().params as object;
    const refusedParams = (change: object, fault: Partial<BatchFault>) =>
      refused(sampleFile({ params: { ...params, ...change } }), { batch: 'two', ...fault });
    for (const historyLength of [1e6, -1, 0.5, '2', 1e308]) {
      refusedParams(
        { historyLength },
        { field: 'params.historyLength', expected: 'an integer from 0 to 1024' },
      );
    }
    refusedParams({ mode: 'mean' }, { field: 'params.mode', expected: 'one of mean_std_norm, mean_norm' });
    refusedParams({ estimator: 'ppo' }, { field: 'params.estimator' });
    refusedParams({ aplha: 1 }, { code: 'bad-key', field: 'params.aplha' });
    refusedParams({ gamma: undefined }, { code: 'missing', field: 'params.gamma' });
    refused(sampleFile({ actionvalid: [] }), { code: 'bad-key', field: 'actionvalid' });
    refused(sampleFile({ params: undefined }), { code: 'missing', field: 'params' });
  });

  test('keys given twice, NaN as Python writes it, and depth without end', () => {
    const text = sampleFile().toString().replace('"step":', '"step":[],"step":');
    refused(Buffer.from(text), { code: 'bad-key', field: 'step' });
    refused(Buffer.from(sampleFile().toString().replace('[0,8,0,0]', '[0,NaN,0,0]')), { code: 'unreadable' });
    refused(Buffer.from('['.repeat(1e6)), { code: 'too-large' });
    refused(Buffer.from(`{"format":${'{"a":'.repeat(1e5)}`), { code: 'too-large' });
    refused(sampleFile({ observation: ['x', JSON.parse('['.repeat(80) + ']'.repeat(80)), 'x', 'x'] }), {
      code: 'too-large',
    });
  });

  test('an index that points outside its dictionary', () => {
    const observationIndex = [0, 1, 2, 0];
    refused(sampleFile({ observation: undefined, observationIndex, observations: ['x', 'y'] }), {
      field: 'observationIndex[2]',
      expected: 'an integer from 0 to 1',
    });
    refused(sampleFile({ observation: undefined, observationIndex }), { field: 'observations' });
  });

  test('rewards of 1e308 are read as they are', () => {
    const [batch] = readBatches(sampleFile({ reward: [1e308, -1e308, 0, 0] }), 'f');
    assert.deepEqual(Array.from(batch!.reward!), [1e308, -1e308, 0, 0]);
  });
});

describe('readBatches: fuzz', () => {
  const source = sampleFile();

  test('whatever is cut, turned or put in, it reads or says BatchFormatError', () => {
    const edit = fc.record({
      at: fc.nat({ max: source.length }),
      drop: fc.nat({ max: 6 }),
      insert: fc.uint8Array({ maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        let bytes = Buffer.from(source);
        for (const { at, drop, insert } of edits) {
          bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]);
        }
        readOrRefuse(bytes);
      }),
      { numRuns: 1500 },
    );
  });

  test('whatever value stands in a field, it reads or says BatchFormatError', () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(1e308, -1e308, 2 ** 53, 1e-320, -0, 1e6),
      fc.array(fc.oneof(fc.integer(), fc.double(), fc.constant(null), fc.string()), {
        minLength: 4,
        maxLength: 4,
      }),
    );
    const keys = Object.keys(sampleBatch());
    const paramKeys = Object.keys(sampleBatch().params as object);
    fc.assert(
      fc.property(
        fc.constantFrom(...keys),
        fc.constantFrom(...paramKeys),
        odd,
        fc.boolean(),
        (key, param, value, inParams) => {
          const params = sampleBatch().params as object;
          readOrRefuse(sampleFile(inParams ? { params: { ...params, [param]: value } } : { [key]: value }));
        },
      ),
      { numRuns: 1500 },
    );
  });

  test('GRPO and RLOO need no gamma: returns that they do not use are left unread without it', () => {
    for (const estimator of ['grpo', 'rloo']) {
      const [bare] = readBatches(sampleFile({ params: { estimator } }), 'f');
      assert.equal(bare!.reportedStepReward, undefined);
      assert.deepEqual(decodeBatch(encodeBatch(bare!)).reportedAdvantage, bare!.reportedAdvantage);
      const stated = { estimator, gamma: 0.5, invalidActionPenalty: 0.25 };
      const [checked] = readBatches(sampleFile({ params: stated }), 'f');
      assert.equal(checked!.reportedStepReward!.length, 4);
    }
  });
});

function readOrRefuse(bytes: Uint8Array): void {
  try {
    readBatches(bytes, 'fuzz.json');
  } catch (error) {
    assert.ok(error instanceof BatchFormatError, (error as Error).stack);
  }
}
