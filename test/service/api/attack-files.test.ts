import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { ApiError, connect } from 'echelon-client';
import { createVerifierPool } from 'echelon-verify/pool';
import type { VerifierPoolOptions } from '../../../packages/echelon-verify/src/pool/pool.ts';
import {
  type AttackFile,
  emptySets,
  longKey,
  longName,
  repeatedField,
} from '../../../packages/echelon-verify/test/support/attack-files.ts';
import { appFor, TOKEN } from '../../support/http-app.ts';

const OTHER_TOKEN = 'other-token-of-the-tests-0123456789';
const OPTIONS: VerifierPoolOptions = { processes: 2, budgetMs: 30_000, budgetBytes: 2 ** 26 };
const GOLDEN = 'test/golden/hgpo.json';

/** Memory that the service itself may take for any of the files. */
const MAX_GROWTH_BYTES = 200 * 2 ** 20;
/** Characters of a problem document. */
const MAX_PROBLEM_CHARACTERS = 5_000;

async function serve(t: TestContext, options: Partial<VerifierPoolOptions> = {}) {
  const verifier = createVerifierPool({ ...OPTIONS, ...options });
  t.after(() => verifier.close());
  const { app } = await appFor(t, {
    verifyFile: verifier.verifyFile,
    settings: { tokens: [TOKEN, OTHER_TOKEN] },
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { client: connect({ url, token: TOKEN }), other: connect({ url, token: OTHER_TOKEN }) };
}

type Client = ReturnType<typeof connect>;

function send(client: Client, { name, bytes }: AttackFile, query: object = {}) {
  return client.post('/v1/verify', { query: { name, ...query }, body: new Uint8Array(bytes) });
}

const golden = (): AttackFile => ({ name: 'a.json', bytes: readFileSync(GOLDEN) });

const ATTACKS: Record<string, [AttackFile, object?]> = {
  '10 million empty sets in a torch file': [emptySets(9_900_000), { from: 'slime' }],
  'objects that take more memory than a process has': [emptySets(990_000), { from: 'slime' }],
  '30 million empty reward functions': [repeatedField(32, 30_000_000)],
  '10 million unknown fields': [repeatedField(77, 10_000_000)],
  'a name of 30 MB': [longName(2, 30_000_000)],
  'the name of a trajectory of 30 MB': [longName(9, 30_000_000)],
  'a key of 10 MB': [longKey(10_000_000)],
};

describe('files that are built to end the service', () => {
  test('files that are built to end the service get a short 4xx answer, and other callers and the memory of the service are unaffected', async (t) => {
    const { client, other } = await serve(t);
    await send(other, golden());
    const before = process.memoryUsage.rss();
    for (const [what, [file, query]] of Object.entries(ATTACKS)) {
      const attacked = assert.rejects(send(client, file, query), (error: unknown) => {
        assert.ok(error instanceof ApiError, what);
        assert.ok([413, 422].includes(error.status), `${what}: ${error.status}`);
        assert.ok(JSON.stringify(error).length + error.message.length < MAX_PROBLEM_CHARACTERS, what);
        return true;
      });
      assert.ok((await send(other, golden())).batches.length > 0, what);
      await attacked;
      assert.ok(process.memoryUsage.rss() - before < MAX_GROWTH_BYTES, what);
    }
  });

  test('a caller that keeps its processes busy does not delay another caller', async (t) => {
    const { client, other } = await serve(t, { budgetMs: 600_000, budgetBytes: 2 ** 28 });
    const rows = '1,1,0.1,0.3\n1,2,0.7,0.1\n'.repeat(99_000);
    const slow = { name: 'a.csv', bytes: Buffer.from(`step,group,reward,advantage\n${rows}`) };
    const leaving = new AbortController();
    let ended = 0;
    const busy = [1, 2].map(async () => {
      const query = { name: slow.name, map: ['step=step'] };
      const body = new Uint8Array(slow.bytes);
      await client.post('/v1/verify', { query, body, signal: leaving.signal }).catch(() => {});
      ended += 1;
    });
    for (let i = 0; i < 5; i++) assert.ok((await send(other, golden())).batches.length > 0);
    assert.equal(ended, 0);
    leaving.abort();
    await Promise.all(busy);
  });
});
