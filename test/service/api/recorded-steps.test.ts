import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createVerifierPool } from 'echelon-verify/pool';
import type { RecordedStepReport } from 'echelon-verify/verify';
import { encodeStep } from '../../../packages/echelon-verify/src/format/step-wire.ts';
import { correctStep, PLANTED } from '../../../packages/echelon-verify/test/step/planted.ts';
import { createVerification } from '../../../src/dispatch/background/verification.ts';
import type { BatchView } from '../../../src/schemas/records.ts';
import { keptOutput, runProgram } from '../../support/cli.ts';
import { QUIET, until } from '../../support/dispatch.ts';
import { appFor, TOKEN } from '../../support/http-app.ts';
import { running, storeFor } from '../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const pool = createVerifierPool({ processes: 1, budgetMs: 30_000, budgetBytes: 2 ** 28 });
after(() => pool.close());
const { explain, tokens, bundle } = pool;
const { app, call } = await appFor(scope, { store, explain, tokens, bundle });
const url = await app.listen({ host: '127.0.0.1', port: 0 });

const planted = PLANTED.find(({ what }) => what === 'token_mean is a mean of micro-batch means')!.batch();
const withoutKl = PLANTED.find(({ named }) => named?.test('the KL term has no gradient'))!;
const steps = [correctStep(), planted, withoutKl.batch()].map(encodeStep);
const lease = await running(store);
for (const [at, data] of steps.entries()) {
  const digest = createHash('sha256').update(data).digest('hex');
  const place = {
    step: 1,
    batch: at + 1,
    index: 0,
    count: 1,
    rows: planted.rows,
    digest,
    bytes: data.length,
  };
  await store.events.append(lease, [
    { sequence: at + 1, at: 1, event: { type: 'batch', ...place }, data: Buffer.from(data) },
  ]);
}
const verification = createVerification({
  ...{ store, verifier: pool, holder: 'd', concurrency: 1, leaseMs: 60_000, everyMs: 50, log: QUIET },
});
verification.start();
const experiment = async () => (await call('GET', `/v1/experiments/${lease.experiment}`)).json();
await until(
  async () => (await experiment()).verification.batchesVerified === steps.length,
  'every step is verified',
);
await verification.stop();
const base = `/v1/experiments/${lease.experiment}`;
const reportOf = async (batch: number): Promise<RecordedStepReport> =>
  (await call('GET', `${base}/batches/1/${batch}`)).json().report;

async function printed(...argv: string[]): Promise<string> {
  const output = keptOutput();
  await runProgram(output, ['batches', lease.experiment, ...argv, '--url', url, '--token', TOKEN]);
  return output.lines.join('\n');
}

test('a recorded optimizer step gets outcomes for its rows, and a wrong token makes the signal wrong', async () => {
  const { signal, wrong, rowsVerified, rowsSeen } = (await experiment()).verification;
  assert.deepEqual([signal, rowsVerified], ['wrong', rowsSeen]);
  const { items } = (await call('GET', `${base}/batches`)).json();
  assert.deepEqual(
    items.map(({ verification: one }: BatchView) => [one?.kind, one?.ok, one?.stages?.gradient]),
    [
      ['step', true, 'exact'],
      ['step', false, 'wrong'],
      ['step', false, 'wrong'],
    ],
  );
  const counted = items.reduce((sum: number, one: BatchView) => sum + one.verification!.wrong, 0);
  assert.equal(wrong, counted);
  const report = await reportOf(2);
  assert.ok(report.step.stages.find(({ stage }) => stage === 'gradient')!.wrong > 0);
  const named = report.findings.find(({ code }) => code === 'arithmetic-identified');
  assert.match(named!.message, /token-mean per micro-batch; you said token-mean over all ranks/);
  assert.ok((await reportOf(3)).findings.some(({ code }) => code === 'kl-without-gradient'));
});

test('the tokens of a row, the chain of its first wrong token and the bundle of a step come from its bytes', async () => {
  const [row] = (await reportOf(2)).wrongRows;
  const columns = (await call('GET', `${base}/batches/1/2/tokens?row=${row}`)).json();
  assert.equal(columns.outcome.length, columns.tokens);
  const first = columns.breaks.indexOf('gradient');
  const { explanation } = (await call('GET', `${base}/explain?batch=2&row=${row}`)).json();
  assert.deepEqual([explanation.token, explanation.breaks], [first, 'gradient']);
  assert.equal((await call('GET', `${base}/explain?batch=2&row=${row}&position=999999`)).statusCode, 422);
  assert.equal((await call('GET', `${base}/batches/1/2/tokens?row=999999`)).statusCode, 422);
  const file = (await call('GET', `${base}/batches/1/2/bundle`)).rawPayload;
  assert.deepEqual(gunzipSync(file), Buffer.from(steps[1]!));
});

test('batches shows the stages of a step, and with --row and --position the chain of a token', async () => {
  assert.match(await printed(), /1 +2 +1 +step .*NOT OK: arithmetic-identified/);
  assert.match(await printed('1', '2'), /gradient +\d+ +\d+ +\d+ +0 +tokens: gradient coefficient/);
  const [row] = (await reportOf(2)).wrongRows;
  const { token } = (await reportOf(2)).step.wrongTokens.find((one) => one.row === row)!;
  const chain = await printed('1', '2', '--row', String(row), '--position', String(token));
  assert.match(
    chain,
    new RegExp(`^Token ${token} of row ${row} of .* is WRONG, broken at the stage gradient`),
  );
  assert.match(chain, /micro-batch \d/);
});
