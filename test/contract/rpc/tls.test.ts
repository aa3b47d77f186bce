import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { RayWorkerError } from '../../../src/rpc/status.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TOKEN = 'tls-test-token';

describe('the client and a ray-worker with TLS', () => {
  let directory: string;
  let child: ReturnType<typeof spawn>;
  let address: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-tls-'));
    await makeCertificate('server');
    await makeCertificate('other');
    await writeFile(join(directory, 'token'), TOKEN, { mode: 0o600 });
    const file = (name: string) => join(directory, name);
    child = spawn(
      join(ROOT, '.venv/bin/python'),
      [
        ...['-m', 'echelon_rayworker.server', '--state-dir', file('state'), '--listen', '127.0.0.1:0'],
        ...['--token-file', file('token'), '--tls-cert', file('server.crt'), '--tls-key', file('server.key')],
      ],
      { cwd: join(ROOT, 'deploy/ray-worker'), stdio: ['ignore', 'pipe', 'inherit'] },
    );
    assert.ok(child.stdout);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    // By name: a certificate is for a name.
    address = (JSON.parse(String(line)) as { address: string }).address.replace('127.0.0.1', 'localhost');
  });
  after(async () => {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
    await rm(directory, { recursive: true, force: true });
  });

  async function makeCertificate(name: string): Promise<void> {
    const files = ['-keyout', join(directory, `${name}.key`), '-out', join(directory, `${name}.crt`)];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', ['req', ...options, '-days', '1', ...subject, ...files], { stdio: 'ignore' });
  }

  async function describeWith(ca: string | null) {
    const client = createRayWorkerClient({ address, token: TOKEN, ca, tries: 1 });
    try {
      return await client.describe();
    } finally {
      client.close();
    }
  }

  test('talk when its certificate is signed by the given authority', async () => {
    const description = await describeWith(await readFile(join(directory, 'server.crt'), 'utf8'));
    assert.notEqual(description.generation, '');
  });

  test('do not talk otherwise, nor in the clear', async () => {
    const other = await readFile(join(directory, 'other.crt'), 'utf8');
    for (const ca of [other, null])
      await assert.rejects(
        describeWith(ca),
        (error) => error instanceof RayWorkerError && error.fault === 'unreachable',
      );
  });
});
