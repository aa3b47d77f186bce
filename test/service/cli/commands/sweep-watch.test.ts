import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CliError } from 'command-kit/exit';
import { watchSweep } from '../../../../src/cli/commands/sweep-watch.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';
import { claimed } from '../../../support/store.ts';
import { expandAll } from '../../../support/sweep.ts';

const { store, client, connection } = await apiFor({ after });
const SWEEP = {
  name: 's',
  method: 'grid' as const,
  spec: { engine: 'replay' },
  axes: { 'replay.batches': [1, 2] },
};

async function echelon(...argv: string[]) {
  const output = keptOutput();
  const ended = await runProgram(output, ['sweeps', ...argv, ...connection]);
  return { ...ended, output };
}

/** Brings every child of a new sweep to an end; `wrong`: rows of the first one that are. */
async function endedSweep(to: 'succeeded' | 'failed', wrong = 0): Promise<string> {
  const { id } = await client.post('/v1/sweeps', { body: SWEEP });
  for (const [at, experiment] of (await expandAll(store, id)).entries()) {
    const lease = await claimed(store, experiment);
    await store.attempts.confirm(lease);
    if (at === 0) await recordBatch(lease, wrong);
    await store.attempts.end(lease, { to, reason: 'a test' });
  }
  return id;
}

async function recordBatch(lease: Awaited<ReturnType<typeof claimed>>, wrong: number): Promise<void> {
  const data = new Uint8Array([1, 2, 3]);
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', data)).toString('hex');
  const part = { type: 'batch', step: 1, batch: 1, index: 0, count: 1, rows: 4, digest, bytes: 3 } as const;
  await store.events.append(lease, [{ sequence: 1, at: 1, event: part, data }]);
  const [record] = await store.batches.takePending(1, { holder: 'verifier-1', leaseMs: 1000 });
  const counts = { rows: 4, exact: 4 - wrong, rounding: 0, wrong, unverifiable: 0 };
  const errors = wrong > 0 ? ['wrong-rows'] : [];
  const report = { type: 'verification', attempt: 1, batch: 1, step: 1, ...counts, errors } as const;
  await store.batches.report(record!, { ...report, ok: wrong === 0 }, { wrongRows: [] });
}

async function watched(id: string) {
  const output = keptOutput();
  const error: unknown = await watchSweep({ client, id, output, json: false, pollMs: 5 }).catch(
    (thrown) => thrown,
  );
  return { output, error };
}

test('a watch of a sweep ends with the last child and fails if a child did not succeed', async () => {
  for (const [to, expected] of [
    ['succeeded', undefined],
    ['failed', CliError],
  ] as const) {
    const { id } = await client.post('/v1/sweeps', { body: SWEEP });
    const output = keptOutput();
    const watching = watchSweep({ client, id, output, json: false, pollMs: 5 }).catch((error) => error);
    for (const experiment of await expandAll(store, id)) {
      const lease = await claimed(store, experiment);
      await store.attempts.confirm(lease);
      await store.attempts.end(lease, { to, reason: 'a test' });
    }
    const ended = await watching;
    assert.equal(ended?.constructor, expected);
    assert.equal(output.lines.at(-1), `${id}  2 ${to}`);
    const compared = await echelon('compare', id, '-m', 'val/succes');
    const remarked = to === 'succeeded' ? [/No child reported val\/succes\. /] : [];
    assert.equal(compared.output.remarks.length, remarked.length);
    for (const what of remarked) assert.match(compared.output.remarks[0]!, what);
  }
});

test('a watch of a sweep whose children all succeeded fails with a count if rows are wrong', async () => {
  const good = await watched(await endedSweep('succeeded'));
  assert.equal(good.error, undefined);
  assert.match(good.output.remarks.at(-1)!, /^4 of 4 rows verified, 0 wrong\. /);
  const id = await endedSweep('succeeded', 3);
  const { error, output } = await watched(id);
  assert.ok(error instanceof CliError && error.exitCode === 1, String(error));
  assert.equal(error.message, `${id} done: wrong training signal in 1 child: 3 wrong rows, 1 error finding`);
  assert.match(output.remarks.at(-1)!, /^4 of 4 rows verified, 3 wrong, 1 error finding, in 1 child\. /);
  const both = await watched(await endedSweep('failed', 1));
  assert.match(String(both.error), /0 of 2 children succeeded; wrong training signal in 1 child/);
});

test('a watch of a sweep waits for the reports of its batches', async () => {
  const { id } = await client.post('/v1/sweeps', { body: SWEEP });
  let looks = 0;
  const slow = {
    ...client,
    get: (async (path: '/v1/sweeps/{id}', input: Parameters<typeof client.get<'/v1/sweeps/{id}'>>[1]) => {
      const answer = await client.get(path, input!);
      if (input!.query?.limit === 200 && ++looks < 3) answer.children[0]!.verification!.status = 'pending';
      return answer;
    }) as typeof client.get,
  };
  for (const experiment of await expandAll(store, id)) {
    const lease = await claimed(store, experiment);
    await store.attempts.confirm(lease);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'a test' });
  }
  await watchSweep({ client: slow, id, output: keptOutput(), json: false, pollMs: 1 });
  assert.equal(looks, 3);
});

test('sweeps get shows the wrong rows of each child and of all children', async () => {
  const id = await endedSweep('succeeded', 2);
  const text = (await echelon('get', id, '-n', '1')).output.lines.join('\n');
  assert.match(text, /^4 of 4 rows verified, 2 wrong, 1 error finding, in 1 child$/m);
  assert.match(text, /^0 +exp-\w+ +succeeded, signal wrong +2 +1$/m);
});
