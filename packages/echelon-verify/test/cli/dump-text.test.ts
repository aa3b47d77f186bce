import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { dumpHead, signalLines, unprovenText } from '../../src/cli/dump-text.ts';
import { TRL } from '../../src/dumps/trl.ts';
import type { Finding } from '../../src/report/report.ts';
import { NO_SIGNAL } from '../../src/verify/signal.ts';
import { verifyDump } from '../../src/verify/verify-dump.ts';
import { DUMPS } from '../support/dump-files.ts';

const reports = await Array.fromAsync(
  verifyDump(TRL, [`${DUMPS}/trl/group/completions/completions_00001.parquet`]),
);

test('the head of a run says format, estimator and signal', () => {
  const head = stripVTControlCharacters(dumpHead(reports).join('\n'));
  assert.match(head, /^format +TRL completions .*completions_00001\.parquet/);
  assert.match(head, /estimator +grpo\(std=sample,eps=1e-4.*found in .*training_args\.bin/);
  assert.match(head, /signal +\d+ % of 4 groups/);
  assert.deepEqual(dumpHead([]), []);
});

test('each origin of an estimator has its words', () => {
  const text = (configuration: (typeof reports)[number]['configuration']) =>
    stripVTControlCharacters(dumpHead([{ ...reports[0]!, configuration }])[1]!);
  assert.match(text({ origin: 'stated', fingerprint: 'F' }), /F, as stated/);
  assert.match(text({ origin: 'unknown', reason: 'no reason' }), /unknown: no reason/);
  assert.match(text({ origin: 'default', fingerprint: 'F' }), /F, the trainer's default/);
  const inferred = { origin: 'inferred', fingerprint: 'F', share: 0.95, alternatives: ['G', 'H'] } as const;
  assert.match(text(inferred), /F, inferred: it explains 95\.0 % of the rows tried, so do G, H/);
  assert.match(
    text({ ...inferred, share: 1, alternatives: [] }),
    /explains all rows tried, the only known one/,
  );
});

test('signal in sentences', () => {
  const lines = signalLines({
    ...NO_SIGNAL,
    ...{ groups: 4, rows: 16, allLowest: 2, single: 1, rowsWithSignal: 8, effectiveRows: 3.5 },
    ...{ advantages: 16, clipped: 1, large: 0, flipped: 8 },
  });
  assert.match(
    lines[0]!,
    /^25 % of 4 groups have a signal, 3 have none \(2 all at the lowest reward, 1 a single row\)$/,
  );
  assert.match(lines[1]!, /effective group size 3\.5 of 8\.0/);
  assert.match(lines[2]!, /6\.3 % clipped, 0 % above 10 in size, 50 % with another sign/);
});

test('what is not proven ends with what to do', () => {
  const configuration = { origin: 'inferred', fingerprint: 'F', alternatives: ['G'] } as const;
  const inferred = { ...reports[0]!, consistent: true, configuration };
  assert.match(unprovenText([inferred])!, /Consistent with F, inferred; 2 variants fit\. .*--estimator/);
  const silent: Finding = { code: 'advantages-missing', severity: 'warning', rows: [], message: '' };
  const configured = { ...inferred, configuration: { origin: 'default' } } as const;
  assert.match(unprovenText([{ ...configured, findings: [silent] }])!, /no advantages/);
  assert.match(unprovenText([configured, ...reports])!, /1 step of 2 could not be verified/);
  assert.equal(unprovenText(reports), undefined);
});
