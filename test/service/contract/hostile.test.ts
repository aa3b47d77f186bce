import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { startPythonRayWorker } from '../../support/python-ray-worker.ts';

// Any client that reaches the port may send any bytes. The ray-worker refuses them and continues to serve the others.
describe('a hostile client of the ray-worker', () => {
  let directory: string;
  let rayWorker: Awaited<ReturnType<typeof startPythonRayWorker>>;
  let raw: Client;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-hostile-'));
    rayWorker = await startPythonRayWorker(directory);
    raw = new Client(rayWorker.address, credentials.createInsecure(), {
      'grpc.max_send_message_length': -1,
    });
  });
  after(async () => {
    raw.close();
    await rayWorker.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const call = (bytes: Uint8Array, headers: Record<string, string>): Promise<ServiceError | undefined> => {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const path = '/echelon.rayworker.v1.RayWorker/Launch';
    const send = (value: Uint8Array) => Buffer.from(value);
    return new Promise((resolve) => {
      const options = { deadline: Date.now() + 20_000 };
      raw.makeUnaryRequest(
        path,
        send,
        (answer: Buffer) => answer,
        bytes,
        metadata,
        options,
        (error) => resolve(error ?? undefined),
      );
    });
  };
  const serves = async () => {
    const { address, token } = rayWorker;
    const client = createRayWorkerClient({ address, token, ca: null });
    try {
      assert.ok((await client.describe(AbortSignal.timeout(10_000))).version);
    } finally {
      client.close();
    }
  };
  const allowed = () => ({ authorization: `Bearer ${rayWorker.token}` });

  test('a message above 4 MB', async () => {
    const error = await call(new Uint8Array(4 * 1024 * 1024 + 1), allowed());
    assert.equal(error?.code, status.RESOURCE_EXHAUSTED);
    await serves();
  });

  test('metadata of a megabyte', async () => {
    const error = await call(new Uint8Array(), { ...allowed(), padding: 'x'.repeat(2 ** 20) });
    assert.ok(error, 'it was taken');
    await serves();
  });

  test('bytes that are no message', async () => {
    const error = await call(new Uint8Array(1000).fill(255), allowed());
    assert.ok(error, 'it was taken');
    assert.notEqual(error.code, status.DEADLINE_EXCEEDED);
    await serves();
  });

  test('2,000 calls at once without a token', async () => {
    const errors = await Promise.all(Array.from({ length: 2_000 }, () => call(new Uint8Array(), {})));
    // A stream that is answered before its request was sent may be reset instead.
    const refusals: (status | undefined)[] = [status.UNAUTHENTICATED, status.CANCELLED];
    assert.ok(errors.every((error) => refusals.includes(error?.code)));
    await serves();
  });
});
