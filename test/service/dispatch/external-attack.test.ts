import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { encodeBatch } from '../../../packages/echelon-verify/src/format/batch-wire.ts';
import { longName, repeatedField } from '../../../packages/echelon-verify/test/support/attack-files.ts';
import { goldenBatch, inForms } from '../../../packages/echelon-verify/test/support/golden-batches.ts';
import { type Client, createClient } from '../../../src/cli/client.ts';
import { freePort } from '../../../src/cli/local/processes.ts';
import { isVerified, until } from '../../support/dispatch.ts';
import { startRedis } from '../../support/redis.ts';
import { spawnRole, TOKEN } from '../../support/system.ts';

const PART_BYTES = 2 ** 17;

/** An api and a dispatcher on a Redis of their own. Fails if one of them has ended when the test is over. */
async function startRoles(t: TestContext): Promise<Client> {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const directory = await mkdtemp(join(tmpdir(), 'echelon-attack-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const port = String(await freePort());
  const environment = {
    ...process.env,
    REDIS_URL: redis.url,
    ECHELON_STATE_DIR: directory,
    ECHELON_TOKENS: TOKEN,
    ECHELON_PORT: port,
  };
  const roles = await Promise.all([
    spawnRole(['api'], environment, /listening on (\S+)/),
    spawnRole(['dispatcher'], environment, /(dispatching)/),
  ]);
  t.after(async () => {
    for (const [role] of roles) {
      assert.equal(await Promise.race([role.ended.catch(() => 'ended'), 'lives']), 'lives');
      role.kill('SIGKILL');
    }
    await Promise.allSettled(roles.map(([role]) => role.ended));
  });
  return createClient({ url: `http://127.0.0.1:${port}`, token: TOKEN });
}

/** Opens a run with these batches, and ends it. */
async function recorded(client: Client, project: string, batches: readonly Uint8Array[]): Promise<string> {
  await client.post('/v1/projects', { body: { name: project } });
  const { id, token } = await client.post('/v1/runs', { body: { name: 'run', project } });
  let sequence = 0;
  const append = async (event: object, data?: string) => {
    const events = [{ sequence: ++sequence, at: 1, event, ...(data !== undefined && { data }) }];
    await client.post('/v1/runs/{id}/events', { path: { id }, body: { token, events: events as never } });
  };
  for (const [place, bytes] of batches.entries()) {
    const about = {
      type: 'batch',
      step: place + 1,
      batch: place + 1,
      rows: 4,
      digest: createHash('sha256').update(bytes).digest('hex'),
      count: Math.ceil(bytes.length / PART_BYTES),
    };
    for (let index = 0; index < about.count; index++) {
      const part = Buffer.from(bytes).subarray(index * PART_BYTES, (index + 1) * PART_BYTES);
      await append({ ...about, index, bytes: part.length }, part.toString('base64'));
    }
  }
  await append({ type: 'ended', cause: 'succeeded', exitCode: 0, signal: 0, message: '', lastLines: [] });
  return id;
}

async function reportOf(client: Client, id: string, batch: number) {
  const path = { id, attempt: 1, batch };
  const { report } = await client.get('/v1/experiments/{id}/batches/{attempt}/{batch}', { path });
  return report as { unverifiable: number; wrong: number; findings: { message: string }[] };
}

test('batches of a run that are built to end a process leave api and dispatcher alive, and other projects verified', async (t) => {
  const client = await startRoles(t);
  const attacks = [longName(9, 1_000_000), repeatedField(32, 1_000_000)].map(({ bytes }) =>
    gunzipSync(bytes),
  );
  const [attacker, other] = await Promise.all([
    recorded(client, 'attacker', attacks),
    recorded(client, 'other', [encodeBatch(inForms(goldenBatch('alfworld-scale'), 'recipe'))]),
  ]);
  for (const id of [attacker, other])
    await until(
      async () => isVerified(await client.get('/v1/experiments/{id}', { path: { id } })),
      `the batches of ${id} are verified`,
    );
  const reasons = [/trajectory_names/, /rewards/];
  for (const [place, reason] of reasons.entries()) {
    const report = await reportOf(client, attacker, place + 1);
    assert.equal(report.unverifiable, 4);
    assert.match(report.findings[0]!.message, reason);
    assert.ok(JSON.stringify(report).length < 5_000);
  }
  const report = await reportOf(client, other, 1);
  assert.deepEqual([report.wrong, report.unverifiable], [0, 0]);
});
