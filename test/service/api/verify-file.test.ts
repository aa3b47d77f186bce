import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ApiError, connect } from 'echelon-client';
import { createVerifierPool } from 'echelon-verify/pool';
import { verifyFiles } from '../../../packages/echelon-verify/src/cli/verify-files.ts';
import type { VerifierPoolOptions } from '../../../packages/echelon-verify/src/pool/pool.ts';
import { until } from '../../support/dispatch.ts';
import { appFor, type TestAppOptions, TOKEN } from '../../support/http-app.ts';

const ROOMY: VerifierPoolOptions = { processes: 1, budgetMs: 30_000, budgetBytes: 2 ** 28 };

/** An API that listens, with a verifier of its own. */
async function serve(t: TestContext, pool: Partial<VerifierPoolOptions> = {}, app: TestAppOptions = {}) {
  const verifier = createVerifierPool({ ...ROOMY, ...pool });
  t.after(() => verifier.close());
  const test = await appFor(t, { verifyFile: verifier.verifyFile, ...app });
  const url = await test.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...test, url, client: connect({ url, token: TOKEN }) };
}

/** What `echelon verify --json` prints. */
async function printed(path: string): Promise<{ batches: { file: string }[]; steps?: { file: string }[] }> {
  let text = '';
  const stdout = { write: (more: string) => (text += more) };
  await verifyFiles([path], { json: true }, { stdout, stderr: stdout });
  return JSON.parse(text);
}

const GOLDEN = [
  'test/golden/hgpo.json',
  'test/golden/real-taubench.json.gz',
  'test/golden/gigpo-grpo.json',
  'test/golden/steps/every-column.json',
  'test/golden/steps/python.pb',
];
/** Uploads of this process: others of the machine come and go. */
const leftovers = () =>
  readdirSync(tmpdir()).filter(
    (name) => name.startsWith('echelon-upload-') && name.includes(`-${process.pid}-`),
  );

describe('POST /v1/verify', () => {
  test('answers what `echelon verify --json` prints for the golden files', async (t) => {
    const { client } = await serve(t);
    for (const path of GOLDEN) {
      const name = basename(path);
      const answer = await client.post('/v1/verify', { query: { name }, body: readFileSync(path) });
      const { batches, steps = [] } = await printed(path);
      assert.ok(batches.length + steps.length > 0);
      const named = (reports: { file: string }[]) => reports.map((one) => ({ ...one, file: name }));
      assert.deepEqual(answer, { batches: named(batches), steps: named(steps) });
    }
  });

  test('verifies a dump of another trainer by the stated estimator', async (t) => {
    const { client } = await serve(t);
    const rows = [1, 0, 0, 0].map((reward) => `p,${reward},${reward - 0.25}`);
    const body = Buffer.from(['prompt_id,score,adv', ...rows, ''].join('\n'));
    const query = {
      name: 'run.csv',
      estimator: 'grpo' as const,
      param: ['normalizeByStd=false'],
      map: ['group=prompt_id', 'reward=score', 'advantage=adv'],
    };
    const { batches } = await client.post('/v1/verify', { query, body });
    const [report] = batches as { ok: boolean; exact: number }[];
    assert.deepEqual([report?.ok, report?.exact], [true, 4]);
    const wrong = await client.post('/v1/verify', {
      query,
      body: Buffer.from(body.toString().replace('0.75', '0.76')),
    });
    assert.equal((wrong.batches[0] as { wrong: number }).wrong, 1);
  });

  test('POST /v1/verify refuses damaged, foreign and contradictory files with 422, and deletes each upload', async (t) => {
    const { client } = await serve(t);
    const whole = readFileSync('test/golden/real-taubench.json.gz');
    const hostile: Record<string, Uint8Array<ArrayBuffer>> = {
      'cut off': whole.subarray(0, whole.length / 2),
      empty: Buffer.alloc(0),
      noise: Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919) % 256)),
      'a zip that ends': Buffer.from('PK\u0003\u0004'),
      'a message of huge lengths': Buffer.from('0a0f6563686c6f6e2d62617463682f31ffffffffffff', 'hex'),
    };
    for (const [what, body] of Object.entries(hostile)) {
      const sent = client.post('/v1/verify', { query: { name: 'a.bin' }, body });
      await assert.rejects(sent, (error: unknown) => {
        assert.ok(error instanceof ApiError, what);
        assert.deepEqual([error.code, error.status, error.retry], ['unreadable-file', 422, false], what);
        assert.doesNotMatch(error.message, /echelon-upload/);
        return true;
      });
    }
    assert.deepEqual(leftovers(), []);
  });

  test('POST /v1/verify refuses a bomb and a verification beyond its time with 413, and still answers afterwards', async (t) => {
    const { client } = await serve(t, { budgetMs: 2_000, budgetBytes: 2 ** 26 });
    const bomb = gzipSync(`{"format":"echelon-batch/1","batches":[${' '.repeat(80_000_000)}]}`);
    const slow = Buffer.from(`step,group,reward,advantage\n${'1,1,0.1,0.3\n1,2,0.7,0.1\n'.repeat(99_000)}`);
    const deep = Buffer.from(`{"format":"echelon-batch/1","batches":${'['.repeat(100_000)}`);
    for (const body of [bomb, slow, deep]) {
      await assert.rejects(client.post('/v1/verify', { query: { name: 'a.csv' }, body }), {
        code: 'body-too-large',
        status: 413,
        retry: false,
      });
    }
    const body = readFileSync(GOLDEN[0]!);
    const { batches } = await client.post('/v1/verify', { query: { name: 'a.json' }, body });
    assert.ok(batches.length > 0);
  });

  test('answers 413 to a body that never ends, and closes its connection at the deadline of a request', async (t) => {
    const { app } = await serve(t, {}, { limits: { uploadBytes: 100_000, requestTimeoutMs: 1_000 } });
    const { port } = app.server.address() as { port: number };
    const socket = connectSocket(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    socket.write(
      `POST /v1/verify?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n` +
        'Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`;
    const sending = setInterval(() => socket.write(chunk.repeat(4)), 5);
    t.after(() => clearInterval(sending));
    const text = await answer;
    assert.match(text, /^HTTP\/1\.1 413 /);
    assert.match(text, /"code":"body-too-large"/);
  });

  test('POST /v1/verify gives the work up when the client leaves', async (t) => {
    const begun = Promise.withResolvers<AbortSignal>();
    const { client } = await serve(
      t,
      {},
      {
        verifyFile: (_file, { signal }) => {
          begun.resolve(signal);
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          );
        },
      },
    );
    const leaving = new AbortController();
    const sent = client.post('/v1/verify', {
      query: { name: 'a.csv' },
      body: Buffer.from('x'),
      signal: leaving.signal,
    });
    const signal = await begun.promise;
    leaving.abort();
    await assert.rejects(sent);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    // The file is deleted after the signal.
    await until(() => leftovers().length === 0, 'the file is deleted');
  });

  test('a caller without a key gets 401', async (t) => {
    const { call } = await serve(t);
    const headers = { 'content-type': 'application/octet-stream' };
    const anonymous = await call('POST', '/v1/verify?name=a', { token: null, raw: 'x', headers });
    assert.equal(anonymous.statusCode, 401);
  });
});
