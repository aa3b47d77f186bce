import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { freePort } from '../../../src/cli/local/processes.ts';
import { checkHealth } from '../../../src/rpc/health.ts';

const CHECK = {
  path: '/grpc.health.v1.Health/Check',
  requestStream: false,
  responseStream: false,
  requestDeserialize: (bytes: Buffer) => bytes,
  requestSerialize: (bytes: Buffer) => bytes,
  responseDeserialize: (bytes: Buffer) => bytes,
  responseSerialize: (bytes: Buffer) => bytes,
} as const;

async function serverSaying(t: { after(release: () => void): void }, status: number): Promise<string> {
  const server = new Server();
  // Field 1 of HealthCheckResponse, a varint.
  const answer = Buffer.from([8, status]);
  server.addService(
    { Check: CHECK },
    { Check: (_call: unknown, done: (e: null, b: Buffer) => void) => done(null, answer) },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  t.after(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

test('a server that serves is healthy', async (t) => {
  await checkHealth({ address: await serverSaying(t, 1), ca: null }, 5000);
});

test('one that does not serve is not', async (t) => {
  const address = await serverSaying(t, 2);
  await assert.rejects(checkHealth({ address, ca: null }, 5000), {
    fault: 'unreachable',
    message: /does not serve/,
  });
});

test('a missing server, or one with another protocol, is unreachable within the time', async (t) => {
  const absent = { address: `127.0.0.1:${await freePort()}`, ca: null };
  await assert.rejects(checkHealth(absent, 300), { fault: 'unreachable' });
  const other = createServer((socket) => socket.end('hello\n', () => socket.destroy()).on('error', () => {}));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => void other.close());
  const { port } = other.address() as { port: number };
  await assert.rejects(checkHealth({ address: `127.0.0.1:${port}`, ca: null }, 300), {
    fault: 'unreachable',
  });
});
