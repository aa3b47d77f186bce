import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Batch } from '../../src/format/batch.ts';
import { decodeBatch, encodeBatch } from '../../src/format/batch-wire.ts';
import { readBundleHead, writeBundle } from '../../src/format/bundle.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { readBatchFile } from '../../src/format/read.ts';
import { constantAdvantage, TOKEN_KEYS } from '../../src/format/tokens.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { goldenTokens } from '../support/golden-tokens.ts';
import { without } from '../support/token-batch.ts';

const DOC = new URL('../../../../docs/reference/batch-format.md', import.meta.url);
const example = /```json\n([^`]*"echelon-batch\/2"[^`]*)```/.exec(readFileSync(DOC, 'utf8'))![1]!;

/** The example of the documentation with other tokens. */
function fileWith(tokens: Record<string, unknown>, format = 'echelon-batch/2'): Uint8Array {
  const file = JSON.parse(example);
  file.format = format;
  Object.assign(file.batches[0].tokens, tokens);
  return Buffer.from(JSON.stringify(file));
}

const read = (bytes: Uint8Array): Batch => readBatchFile(bytes, 'f.json')[0]!;

function fault(bytes: Uint8Array): string {
  try {
    read(bytes);
  } catch (error) {
    assert.ok(error instanceof BatchFormatError);
    return error.message;
  }
  return assert.fail('the file was read');
}

describe('tokens', () => {
  test('the example of the documentation is read, and all its rows are exact', () => {
    const report = verifyBatch(read(Buffer.from(example)));
    assert.deepEqual([report.ok, report.exact, report.rows], [true, 2, 2]);
    assert.deepEqual(Object.keys(JSON.parse(example).batches[0].tokens), TOKEN_KEYS);
  });

  test('survive the wire and a bundle, with the same report', () => {
    for (const { batch } of goldenTokens()) {
      const recorded = decodeBatch(encodeBatch(batch));
      assert.deepEqual(recorded.tokens, batch.tokens);
      assert.deepEqual(verifyBatch(recorded), verifyBatch(batch));
      const origin = {
        experiment: 'e',
        attempt: 1,
        batch: 1,
        step: 1,
        digest: '',
        report: null,
        version: '1',
      };
      const bundle = writeBundle(recorded, origin);
      assert.deepEqual(read(bundle).tokens, batch.tokens);
      assert.equal(readBundleHead(bundle, 'f')!.experiment, 'e');
    }
  });

  test('a batch without tokens is written in version 1, in which tokens are refused', () => {
    const { tokens: _none, ...plain } = goldenTokens()[0]!.batch;
    const format = (batch: Batch) => Buffer.from(encodeBatch(batch)).toString('latin1', 2, 17);
    assert.equal(format(plain), 'echelon-batch/1');
    assert.equal(format(goldenTokens()[0]!.batch), 'echelon-batch/2');
    assert.match(
      fault(fileWith({}, 'echelon-batch/1')),
      /field tokens: expected no tokens in echelon-batch\/1/,
    );
  });

  test('offsets that do not start at 0, decrease, are no integers, too many or huge name the entry', () => {
    assert.match(
      fault(fileWith({ offset: [1, 3, 5] })),
      /tokens\.offset\[0\].*expected 0, the start of row 0/,
    );
    assert.match(fault(fileWith({ offset: [0, 4, 3] })), /tokens\.offset\[2\].*expected 4 or more.*found 3/);
    assert.match(fault(fileWith({ offset: [0, null, 5] })), /tokens\.offset\[1\].*integer/);
    assert.match(fault(fileWith({ offset: [0, 3.5, 5] })), /tokens\.offset\[1\].*integer/);
    assert.match(fault(fileWith({ offset: [0, 3, 1e18] })), /tokens\.offset\[2\].*from 0 to 67108864/);
    assert.match(fault(fileWith({ offset: [0, 3, 2 ** 26] })), /tokens\.mask.*67108864 entries.*found 5/);
    assert.match(fault(fileWith({ offset: [0, 5] })), /tokens\.offset.*expected 3 entries.*found 2/);
    assert.match(fault(fileWith({ offset: undefined })), /tokens\.offset.*expected 3 integers/);
  });

  test('columns of another length, of another kind, or nearly of a name of the format are refused', () => {
    assert.match(fault(fileWith({ reward: [1, 2] })), /tokens\.reward.*expected 5 entries.*found 2/);
    assert.match(fault(fileWith({ value: [0, 'a', 0, 0, 0] })), /tokens\.value\[1\].*expected a number/);
    assert.match(fault(fileWith({ mask: [0, 2, 0, 1, 1] })), /tokens\.mask\[1\].*true or false/);
    assert.match(fault(fileWith({ rewards: [] })), /tokens\.rewards.*did you mean tokens\.reward/);
    const file = JSON.parse(example);
    file.batches[0].tokens = [1];
    assert.match(fault(Buffer.from(JSON.stringify(file))), /field tokens: expected an object/);
  });

  test('a reward of NaN is reported, and makes finite advantages wrong', () => {
    const report = verifyBatch(read(fileWith({ reward: [0, null, 1, 0, 0] })));
    assert.deepEqual([report.ok, report.wrong], [false, 2]);
    assert.ok(
      report.findings.some(
        ({ code, message }) => code === 'non-finite-input' && /tokens\.reward/.test(message),
      ),
    );
  });

  test('every damaged message of the wire is refused or read, in bounded memory, and nothing else is thrown', () => {
    const wire = encodeBatch(goldenTokens()[0]!.batch);
    const before = process.memoryUsage().rss;
    for (let at = 0; at < wire.length; at += 7) {
      for (const damaged of [
        wire.subarray(0, at),
        flipped(wire, at),
        gzipSync(flipped(wire, at), { level: 1 }),
      ]) {
        try {
          for (const batch of readBatchFile(damaged, 'f')) verifyBatch(batch);
        } catch (error) {
          assert.ok(error instanceof BatchFormatError, String(error));
        }
      }
    }
    assert.ok(process.memoryUsage().rss - before < 2 ** 29);
  });

  test('an offset beyond the columns, or that decreases, is refused on the wire as well', () => {
    const { batch } = goldenTokens()[0]!;
    const encoded = (offset: readonly number[]) =>
      encodeBatch({ ...batch, tokens: { ...batch.tokens!, offset: Int32Array.from(offset) } });
    const usual = [...batch.tokens!.offset];
    const error = (offset: readonly number[]) => fault(encoded(offset));
    assert.match(error([...usual.slice(0, -1), 99]), /token_mask: expected 99 bytes/);
    assert.match(error([0, 9, 4, ...usual.slice(3)]), /token_offset\[2\]: expected 9 or more.*found 4/);
    assert.match(error([...usual.slice(0, -1), -1]), /token_offset\[6\]/);
    assert.match(error(usual.slice(1)), /token_offset: expected 28 bytes/);
  });

  test('one advantage for all tokens of a row is the row’s, for an estimator that has one per row', () => {
    const { batch } = goldenTokens()[0]!;
    assert.equal(constantAdvantage(batch.tokens!), undefined);
    const { offset, mask } = batch.tokens!;
    const rowOf = (t: number) => offset.findIndex((at) => at > t) - 1;
    const reportedAdvantage = Float64Array.from(mask!, (m, t) => (m === 0 ? -9 : rowOf(t)));
    assert.deepEqual([...constantAdvantage({ offset, mask: mask!, reportedAdvantage })!], [0, 1, 2, 3, 4, 5]);
    assert.equal(constantAdvantage(without(batch, 'mask').tokens!), undefined);
  });
});

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 0x55;
  return copy;
}
