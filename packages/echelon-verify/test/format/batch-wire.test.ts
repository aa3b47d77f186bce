import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PRECISIONS } from '../../src/arithmetic/arithmetic.ts';
import type { Batch } from '../../src/format/batch.ts';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { readBatches } from '../../src/format/read-batch.ts';
import { REWARDS, sampleBatch, sampleFile } from '../sample-batch.ts';
import { parametersOf } from '../support/stated.ts';

const sample = (changes: Record<string, unknown> = {}): Batch => readBatches(sampleFile(changes), 'f')[0]!;

/** What the wire keeps of a batch, without what differs by nature. */
function kept(batch: Batch): Record<string, unknown> {
  const { observationLabel: _label, dictionary, note: _note, ...rest } = batch;
  return { ...rest, entries: dictionary?.count, texts: dictionary?.texts };
}

describe('the wire', () => {
  test('keeps every golden batch as it is', () => {
    for (const file of ['hgpo.json', 'gigpo-grpo.json', 'real-taubench.json.gz']) {
      for (const batch of readBatches(
        readFileSync(new URL(`../../../../test/golden/${file}`, import.meta.url)),
        file,
      )) {
        assert.deepEqual(kept(decodeBatch(encodeBatch(batch))), kept(batch));
      }
    }
  });

  test('keeps provenance and a stated deviation, and omits what was not there', () => {
    const provenance = {
      experiment: 'e1',
      attempt: 2,
      trainingStep: 2 ** 40,
      groupSize: 2,
      groups: 1,
      rowsCollected: 4,
    };
    const params = { ...(sampleBatch().params as object), deviation: 'sample', precision: 'float64' };
    const batch = sample({ provenance, params, reward: undefined, reported: {}, step: undefined });
    const back = decodeBatch(encodeBatch(batch));
    assert.deepEqual(back.provenance, provenance);
    assert.equal(parametersOf(back.estimator).deviation, 'sample');
    assert.equal(back.estimator.precision, 'float64');
    assert.ok(!('reward' in back) && !('reportedAdvantage' in back) && !('step' in back));
  });

  test('keeps every precision and refuses others', () => {
    for (const precision of PRECISIONS) {
      const params = { ...(sampleBatch().params as object), precision };
      assert.equal(decodeBatch(encodeBatch(sample({ params }))).estimator.precision, precision);
    }
    const { estimator } = sample();
    const other = encodeBatch({
      ...sample(),
      estimator: { ...estimator, precision: 'float8' as 'float32' },
    });
    assert.throws(() => decodeBatch(other), /estimator\.precision.*bfloat16-output/s);
  });

  test('keeps what statistics run over, and the stated forms', () => {
    const params = { estimator: 'grpo', statistics: 'trajectories', forms: 'recipe' };
    const { estimator } = decodeBatch(encodeBatch(sample({ params, reward: undefined })));
    assert.deepEqual([parametersOf(estimator).statistics, estimator.forms], ['trajectories', 'recipe']);
  });

  test('keeps the columns of the reward functions with their weights, also a weight of 0', () => {
    const batch = sample(REWARDS);
    assert.deepEqual(kept(decodeBatch(encodeBatch(batch))), kept(batch));
    assert.deepEqual(
      decodeBatch(encodeBatch(batch)).rewards!.map(({ name, weight, value }) => [name, weight, [...value]]),
      [
        ['format', 1, [1, Number.NaN, 0, 1]],
        ['answer', 0, [0.1, 2, -1, 1e3]],
      ],
    );
  });

  test('without texts an observation is called by its digest: half of the SHA-256 of its canonical text', () => {
    const back = decodeBatch(encodeBatch(sample(), { texts: false }));
    const digest = createHash('sha256').update('"end"').digest('hex').slice(0, 32);
    assert.equal(back.observationLabel(1), digest);
    assert.equal(decodeBatch(encodeBatch(sample())).observationLabel(1), 'end');
  });

  test('keeps the actions with the texts, and omits them without', () => {
    const batch = sample({ actionIndex: [1, 0, 0, 1], actions: ['go left', 'go right'] });
    assert.deepEqual(kept(decodeBatch(encodeBatch(batch))), kept(batch));
    const { action, actionTexts } = decodeBatch(encodeBatch(batch, { texts: false }));
    assert.deepEqual([action, actionTexts], [undefined, undefined]);
    assert.throws(
      () => decodeBatch(encodeBatch({ ...batch, actionTexts: ['go left'] })),
      /action\[0\].*an integer from 0 to 0/s,
    );
  });

  test('an encoded batch can be encoded again from what was decoded', () => {
    const bytes = encodeBatch(sample(), { texts: false });
    assert.deepEqual(Buffer.from(encodeBatch(decodeBatch(bytes))), Buffer.from(bytes));
  });

  test('columns are read at any alignment', () => {
    const bytes = encodeBatch(sample());
    for (let lead = 0; lead < 8; lead++) {
      const moved = new Uint8Array(lead + bytes.length);
      moved.set(bytes, lead);
      assert.deepEqual(kept(decodeBatch(moved.subarray(lead))), kept(decodeBatch(bytes)));
    }
  });

  test('the empty batch survives', () => {
    const empty = { group: [], trajectory: [], observation: [], step: [], reward: [], actionValid: [] };
    const batch = sample({ ...empty, tokenLevelRewardSum: [], responseLength: [], reported: {} });
    assert.equal(decodeBatch(encodeBatch(batch)).rows, 0);
  });
});

describe('the wire: bad batches', () => {
  const refused = (bytes: Uint8Array, field: string | undefined, code: string) =>
    assert.throws(
      () => decodeBatch(bytes, 'x.pb'),
      (error) =>
        error instanceof BatchFormatError &&
        error.field === field &&
        error.code === code &&
        error.file === 'x.pb',
    );
  const bent = (changes: Partial<Batch>) => encodeBatch({ ...sample(), ...changes });

  test('cut off, empty, of another format', () => {
    refused(encodeBatch(sample()).subarray(0, 40), undefined, 'unreadable');
    refused(new Uint8Array(0), 'format', 'invalid');
    refused(Buffer.from([0x0a, 3, 0x61, 0x62, 0x63]), 'format', 'invalid');
  });

  test('a column of another length, or rows without columns', () => {
    refused(bent({ reward: new Float64Array(3) }), 'reward', 'wrong-length');
    refused(bent({ rows: 5 }), 'group', 'wrong-length');
    refused(bent({ rows: 2 ** 30 }), 'rows', 'too-large');
    refused(bent({ group: new Int32Array(0) }), 'group', 'missing');
    refused(bent({ trajectory: new Int32Array(0) }), 'trajectory', 'missing');
  });

  test('a reward function that is there twice, without a column, or with a column of another length', () => {
    const [first, second] = sample(REWARDS).rewards!;
    const rewards = (...columns: Batch['rewards'] & object) => bent({ rewards: columns });
    refused(rewards(first!, first!), 'rewards.format', 'invalid');
    refused(rewards(first!, { ...second!, value: new Float64Array(0) }), 'rewards.answer', 'missing');
    refused(rewards({ ...first!, value: new Float64Array(3) }), 'rewards.format', 'wrong-length');
  });

  test('ids that point outside their names', () => {
    refused(bent({ group: Int32Array.of(0, 0, 1, 0) }), 'group[2]', 'invalid');
    refused(bent({ trajectory: Int32Array.of(0, -1, 0, 0) }), 'trajectory[1]', 'invalid');
    refused(bent({ observation: Int32Array.of(0, 0, 0, 2) }), 'observation[3]', 'invalid');
    refused(bent({ step: Int32Array.of(0, 0, -3, 2) }), 'step[2]', 'invalid');
    refused(bent({ actionValid: Uint8Array.of(0, 0, 1, 2) }), 'action_valid[3]', 'invalid');
  });

  test('a dictionary that lists one observation twice, or is half a digest long', () => {
    const twice = new Uint8Array(32).fill(9);
    refused(bent({ dictionary: { count: 2, digests: twice } }), 'observation_digests[1]', 'invalid');
    refused(
      bent({ dictionary: { count: 2, digests: new Uint8Array(20) } }),
      'observation_digests',
      'wrong-length',
    );
    const digests = Uint8Array.from({ length: 32 }, (_, at) => at);
    refused(bent({ dictionary: { count: 2, digests, texts: ['one'] } }), 'observation_texts', 'wrong-length');
  });

  test('an estimator that is none', () => {
    const { estimator } = sample();
    const stating = (changes: object) =>
      bent({ estimator: { ...estimator, params: { ...estimator.params, ...changes } } });
    refused(stating({ historyLength: 4000 }), 'estimator.historyLength', 'invalid');
    refused(bent({ estimator: { ...estimator, name: '' as 'hgpo' } }), 'estimator.name', 'missing');
    refused(stating({ epsilon: Number.NaN }), 'estimator.epsilon', 'invalid');
    // As a writer that knows no list of parameters sends it: no default is put in their place.
    refused(bent({ estimator: { ...estimator, params: {} as never } }), 'estimator.parameters', 'missing');
  });

  test('whatever bytes are turned, it reads or says BatchFormatError', () => {
    const source = encodeBatch(sample());
    const edit = fc.record({ at: fc.nat({ max: source.length - 1 }), value: fc.nat({ max: 255 }) });
    fc.assert(
      fc.property(
        fc.array(edit, { minLength: 1, maxLength: 5 }),
        fc.nat({ max: source.length }),
        (edits, length) => {
          const bytes = source.slice();
          for (const { at, value } of edits) bytes[at] = value;
          for (const candidate of [bytes, bytes.subarray(0, length)]) {
            try {
              decodeBatch(candidate);
            } catch (error) {
              assert.ok(error instanceof BatchFormatError, (error as Error).stack);
            }
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
