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
  let server: { address: string; stop(): Promise<void> };
  const file = (name: string) => join(directory, name);
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-tls-'));
    await makeCertificate('server');
    await makeCertificate('other');
    await writeFile(file('token'), TOKEN, { mode: 0o600 });
    server = await serve('server');
  });
  after(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** A ray-worker on the certificate of that name; its address is by name, since a certificate is for a name. */
  async function serve(name: string): Promise<{ address: string; stop(): Promise<void> }> {
    const child = spawn(
      join(ROOT, '.venv/bin/python'),
      [
        '-m',
        'echelon_rayworker.server',
        '--state-dir',
        file(`state-${name}`),
        '--listen',
        '127.0.0.1:0',
        '--token-file',
        file('token'),
        '--tls-cert',
        file(`${name}.crt`),
        '--tls-key',
        file(`${name}.key`),
      ],
      {
        cwd: join(ROOT, 'deploy/ray-worker'),
        env: { ...process.env, PYTHONPATH: join(ROOT, 'deploy/capture') },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    assert.ok(child.stdout);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { address } = JSON.parse(String(line)) as { address: string };
    return {
      address: address.replace('127.0.0.1', 'localhost'),
      async stop() {
        const exit = once(child, 'exit');
        child.kill('SIGTERM');
        await exit;
      },
    };
  }

  async function makeCertificate(name: string, { days = '1', host = 'localhost' } = {}): Promise<void> {
    const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
    const key = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      file(`${name}.key`),
    ];
    const request = file(`${name}.csr`);
    execFileSync('openssl', ['req', '-new', ...key, ...subject, '-out', request], { stdio: 'ignore' });
    // In two steps: `req -x509` makes none that has expired.
    const signed = ['-signkey', file(`${name}.key`), '-copy_extensions', 'copy', '-out', file(`${name}.crt`)];
    execFileSync('openssl', ['x509', '-req', '-in', request, '-days', days, ...signed], { stdio: 'ignore' });
  }

  async function describeWith(ca: string | null, address = server.address) {
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

  test('the client and a ray-worker with TLS do not talk to one whose certificate has expired, or is for another name', async () => {
    for (const [name, options] of [
      ['expired', { days: '-1' }],
      ['elsewhere', { host: 'elsewhere.example' }],
    ] as const) {
      await makeCertificate(name, options);
      const { stop, address } = await serve(name);
      try {
        const ca = await readFile(file(`${name}.crt`), 'utf8');
        await assert.rejects(
          describeWith(ca, address),
          (error) => error instanceof RayWorkerError && error.fault === 'unreachable',
          name,
        );
      } finally {
        await stop();
      }
    }
  });

  test('the client and a ray-worker with TLS do not talk otherwise, nor in the clear', async () => {
    const other = await readFile(join(directory, 'other.crt'), 'utf8');
    for (const ca of [other, null])
      await assert.rejects(
        describeWith(ca),
        (error) => error instanceof RayWorkerError && error.fault === 'unreachable',
      );
  });
});
