import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Batch } from '../../src/format/batch.ts';
import { readBatchFile } from '../../src/format/read.ts';
import { batchId, HEAD_ID, type ReportHead } from '../../src/html/contents.ts';
import { unpackBatch } from '../../src/html/pack-batch.ts';
import { createReportCollector, type Listed } from '../../src/html/write-report.ts';
import { goldenBatch } from '../support/golden-batches.ts';

const golden = readBatchFile(readFileSync('test/golden/hgpo.json'), 'hgpo.json');
const large = goldenBatch('alfworld-scale');

const partOf = (html: string, id: string): Uint8Array<ArrayBuffer> | undefined => {
  const found = new RegExp(`<script type="text/plain" id="${id}">([A-Za-z0-9+/=]+)</script>`).exec(html);
  return found ? new Uint8Array(gunzipSync(Buffer.from(found[1]!, 'base64'))) : undefined;
};

async function writtenOf(batches: readonly Batch[], isNotOk = (_at: number) => false) {
  const collector = createReportCollector();
  batches.forEach((batch, at) => void collector.add(batch, isNotOk(at)));
  let listed: readonly Listed[] = [];
  const html = await collector.write((given) => {
    listed = given;
    return { command: '</script><script>alert(1)</script>' } as ReportHead;
  });
  return { html, listed };
}

test('a report holds its head and each batch as base64, in which hostile text cannot end an element', async () => {
  const { html, listed } = await writtenOf(golden);
  assert.deepEqual(
    listed.map(({ at }) => at),
    golden.map((_, at) => at),
  );
  const head = JSON.parse(new TextDecoder().decode(partOf(html, HEAD_ID)));
  assert.equal(head.command, '</script><script>alert(1)</script>');
  assert.equal(html.includes('alert(1)'), false);
  golden.forEach((batch, at) => {
    assert.equal(unpackBatch(partOf(html, batchId(at))!).rows, batch.rows);
  });
});

test('a report of 100,000 rows is smaller than 1 MB, and lists the batches that are not ok with their rows first', async () => {
  // Each step has its own values, as in a training.
  const batches = Array.from({ length: 60 }, (_, step): Batch => {
    const reportedAdvantage = large.reportedAdvantage!.map((value) => Math.fround(value * (1 + step / 97)));
    return { ...large, name: `step ${step}`, reportedAdvantage };
  });
  const { html, listed } = await writtenOf(batches, (at) => at >= 50);
  assert.ok(html.length < 1_000_000, `${html.length} bytes`);
  const withRows = listed.filter(({ withoutRows }) => withoutRows === undefined);
  assert.ok(withRows.length * large.rows > 100_000, `${withRows.length} batches`);
  for (let at = 50; at < 60; at++) assert.ok(withRows.some((one) => one.at === at));
  for (const { withoutRows } of listed)
    if (withoutRows !== undefined) assert.match(withoutRows, /larger than 1 MB/);
});
