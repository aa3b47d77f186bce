import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { CHUNK_BYTES } from '../src/chunks.ts';
import { RaySessionRefusedError, RayVersionError } from '../src/errors.ts';
import { packageUri } from '../src/packages.ts';
import { encodeJobConfig, type Session, startSession } from '../src/session.ts';
import { type FakeRay, type FakeRayOptions, startFakeRay } from './support/fake-ray.ts';

const DEFAULTS = { namespace: 'n', graceMs: 30_000, timeoutMs: 10_000, runtimeEnv: undefined, packages: [] };

async function withSession(
  ray: FakeRayOptions,
  use: (session: Session, ray: FakeRay) => Promise<void>,
  options: Partial<Parameters<typeof startSession>[1]> = {},
): Promise<void> {
  await using fake = await startFakeRay(ray);
  const channel = createChannel({ address: fake.address });
  try {
    const session = await startSession(channel, { ...DEFAULTS, ...options });
    await use(session, fake);
    await session.dataPath.close();
  } finally {
    channel.close();
  }
}

describe('startSession', () => {
  test('startSession sends init first, then asks for the server version', async () => {
    await withSession({}, async (session, ray) => {
      assert.match(session.clientId, /^[0-9a-f]{32}$/);
      assert.deepEqual([session.rayVersion, session.pythonVersion], ['2.60.0', '3.11.7']);
      const init = ray.received[0]?.init;
      assert.equal(init?.reconnect_grace_period, 30);
      assert.equal(JSON.parse(init?.ray_init_kwargs ?? '{}').namespace, 'n');
      assert.equal(init?.job_config?.length, 0);
      assert.ok(ray.received[1]?.connection_info);
    });
  });

  test('startSession starts again under a new id if its process died', async () => {
    const died = { ok: false, msg: 'RuntimeError: Starting Ray client server failed. See …' };
    await withSession({ init: [died, died, { ok: true }] }, async (_, ray) => {
      assert.equal(new Set(ray.streams.map((stream) => stream.clientId)).size, 3);
    });
  });

  test('startSession does not repeat a refusal with a reason', async () => {
    const refusal = { ok: false, msg: 'Failed to set up runtime environment' };
    await assert.rejects(
      withSession({ init: [refusal] }, async () => {}),
      (error) => {
        return error instanceof RaySessionRefusedError && /runtime environment/.test(error.message);
      },
    );
  });

  test('startSession refuses an old Ray', async () => {
    await assert.rejects(
      withSession({ rayVersion: '1.13.0' }, async () => {}),
      RayVersionError,
    );
  });

  test('startSession uploads packages before the session', async () => {
    const zip = Buffer.from('zip');
    await withSession({}, async (_, ray) => assert.ok(ray.kv.has(packageUri(zip))), { packages: [zip] });
  });
});

describe('large requests', () => {
  const sizes = async (rayVersion: string, graceMs: number): Promise<number[]> => {
    let parts: number[] = [];
    await withSession(
      { rayVersion },
      async ({ dataPath }, ray) => {
        await dataPath.ask({ kind: 'put', data: Buffer.alloc(2 * CHUNK_BYTES + 1) }).answer;
        parts = ray.received.flatMap(({ put }) => (put ? [put.data?.length ?? 0] : []));
      },
      { graceMs },
    );
    return parts;
  };

  test('large requests are sent in chunks if chunks may be repeated', async () => {
    assert.deepEqual(await sizes('2.60.0', 30_000), [CHUNK_BYTES, CHUNK_BYTES, 1]);
  });
  test('large requests are sent whole to an older server, which would end the session over repeated chunks', async () => {
    assert.deepEqual(await sizes('2.46.0', 30_000), [2 * CHUNK_BYTES + 1]);
  });
  test('large requests are sent in chunks if no request is ever repeated', async () => {
    assert.deepEqual(await sizes('2.46.0', 0), [CHUNK_BYTES, CHUNK_BYTES, 1]);
  });
});

test('a runtime environment makes a job config, as a call that any Ray knows', () => {
  assert.equal(encodeJobConfig({ namespace: 'n', runtimeEnv: undefined }).length, 0);
  const config = Buffer.from(encodeJobConfig({ namespace: 'n', runtimeEnv: { env_vars: { A: 'b' } } }));
  for (const text of ['ray.job_config', 'JobConfig.from_json', 'ray_namespace', 'runtime_env', 'env_vars']) {
    assert.ok(config.includes(text), text);
  }
});
