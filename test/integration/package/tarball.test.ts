import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { readCompose } from '../../support/deploy.ts';
import { until } from '../../support/dispatch.ts';
import { keepLines } from '../../support/kept-log.ts';
import { linkProductionDependencies, unpackPackage } from '../../support/packed.ts';
import { freePort, redisFor } from '../../support/redis.ts';

const run = promisify(execFile);

/** Installations of Node 20 and 22 on the path, if any. */
async function olderNodes(): Promise<string[]> {
  const found = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'node'));
  const versions = await Promise.all(
    [...new Set(found)].map(async (path) => {
      const version = await run(path, ['--version']).then(
        ({ stdout }) => stdout.trim(),
        () => '',
      );
      return { path, version };
    }),
  );
  return versions.filter(({ version }) => /^v2[02]\./.test(version)).map(({ path }) => path);
}

/** JSON array of an instruction of the Dockerfile, e.g. of ENTRYPOINT. */
async function instruction(name: string): Promise<string[]> {
  const text = (await readFile('deploy/docker/Dockerfile', 'utf8')).replace(/\\\n/g, ' ');
  const found = new RegExp(`^${name}.*?(\\[.*\\])$`, 'm').exec(text);
  assert.ok(found, name);
  return JSON.parse(found[1]!) as string[];
}

describe('the packed tarball, installed elsewhere with its production dependencies only', () => {
  let place: string;
  let files: string[];

  before(async () => {
    place = await mkdtemp(join(tmpdir(), 'echelon-package-'));
    files = await unpackPackage(place, join(place, 'node_modules/echelon'));
    await linkProductionDependencies(place);
  });
  after(() => rm(place, { recursive: true, force: true }));

  const node = (code: string) => run(process.execPath, ['--input-type=module', '-e', code], { cwd: place });
  const echelon = (...args: string[]) =>
    run(process.execPath, [join(place, 'node_modules/echelon/dist/cli/main.js'), ...args], { cwd: place });

  test('says what it can do', async () => {
    const { stdout } = await echelon('--help');
    for (const command of ['up', 'submit', 'watch', 'verify', 'doctor'])
      assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
  });

  test('its kernel computes', async () => {
    const { stdout } = await node(`
      import { grpo } from 'echelon/kernel';
      console.log(JSON.stringify([...grpo(Int32Array.of(0, 0, 0), Float64Array.of(1, 2, 6), { normalizeByStd: false, epsilon: 1e-6, deviation: 'sample', singleton: 'raw' })]));`);
    assert.deepEqual(JSON.parse(stdout), [-2, -1, 3]);
  });

  test('its verifier and its clients of Ray and of the API can be imported', async () => {
    const { stdout } = await node(`
      import { verifyBatch } from 'echelon/verify';
      import { connect } from 'echelon/ray';
      import { connect as api, events } from 'echelon/client';
      const client = api({ url: 'http://127.0.0.1:1', token: 'x' });
      const error = await client.post('/v1/experiments', { body: {} }).catch((error) => error);
      console.log(typeof verifyBatch, typeof connect, typeof events, String(error));`);
    assert.match(stdout, /^function function function .*(?:fetch failed|ECONNREFUSED|Error)/);
  });

  test('its kernel and its verifier work without what Node 20 lacks', async () => {
    const missing = join(place, 'node-20.mjs');
    await writeFile(
      missing,
      `import { registerHooks } from 'node:module';
      delete Promise.withResolvers;
      const lacking = {
        'node:zlib': ['zstdDecompressSync'],
        'node:fs': ['globSync'],
      };
      registerHooks({
        load(url, context, next) {
          if (lacking[url] === undefined) return next(url, context);
          const names = Object.keys(process.getBuiltinModule(url)).filter((name) => !lacking[url].includes(name));
          const source = 'const all = process.getBuiltinModule(' + JSON.stringify(url) + ');' +
            names.map((name) => 'export const ' + name + ' = all.' + name + ';').join('') + 'export default all;';
          return { format: 'module', source, shortCircuit: true };
        },
      });`,
    );
    const program = join(place, 'verify.mjs');
    await writeFile(
      program,
      `import { createVerifierPool, encodeBatch, readBatchFile } from 'echelon/verify';
      import { readFileSync } from 'node:fs';
      const [batch] = readBatchFile(readFileSync(${JSON.stringify(resolve('test/golden/hgpo.json'))}), 'hgpo.json');
      const pool = createVerifierPool({ processes: 1, budgetMs: 60_000, budgetBytes: 2 ** 28 });
      const wire = [0, 1, 2].map(() => encodeBatch(batch));
      console.log((await Promise.all(wire.map((bytes) => pool.verify(bytes)))).map((report) => report.ok).join());
      await pool.close();`,
    );
    const { stdout } = await run(process.execPath, ['--import', missing, program], { cwd: place });
    assert.equal(stdout.trim(), 'true,true,true');
    for (const older of await olderNodes()) {
      const answer = await run(older, [program], { cwd: place });
      assert.equal(answer.stdout.trim(), 'true,true,true', older);
    }
  });

  test('it verifies a recorded batch', async () => {
    const { stdout } = await echelon('verify', resolve('test/golden/hgpo.json'), '--json');
    const { batches } = JSON.parse(stdout) as { batches: { ok: boolean }[] };
    assert.equal(batches.length, 45);
    assert.ok(batches.every(({ ok }) => ok));
  });

  test('it contains what it needs and nothing else', async () => {
    assert.ok(files.includes('deploy/ray-worker/echelon_rayworker/supervisor.py'));
    assert.ok(files.some((path) => path.endsWith('.lua')));
    assert.ok(files.includes('LICENSE'));
    const foreign = files.filter((path) =>
      /(^|\/)(test|tests|node_modules|__pycache__|scripts)\/|\.pyc$|(^|\/)\.|^src\//.test(path),
    );
    assert.deepEqual(foreign, []);
    assert.notEqual((await readdir(join(place, 'node_modules'))).length, 0);
  });

  /** A command of the image, its paths here. */
  const here = (command: string[]) =>
    command.map((word) =>
      word === 'node'
        ? process.execPath
        : word.startsWith('/opt/echelon/health.mjs')
          ? resolve('deploy/docker/health.mjs')
          : word.replace('/opt/echelon', join(place, 'node_modules/echelon')),
    );

  for (const role of ['api', 'dispatcher'] as const)
    test(`the image's ${role}: starts, is healthy, notices that Redis is away, and ends on SIGTERM`, async (t) => {
      const redis = await redisFor(t);
      const { environment, healthcheck } = readCompose().services[role]!;
      const [port, metricsPort] = [await freePort(), await freePort()];
      const env = {
        PATH: process.env.PATH,
        HOME: place,
        REDIS_URL: redis.url,
        ECHELON_STATE_DIR: join(place, role),
        ECHELON_PORT: String(port),
        ECHELON_METRICS_PORT: String(metricsPort),
      };
      const [program, ...args] = here([...(await instruction('ENTRYPOINT')), role]);
      const child = spawn(program!, args, { env, cwd: place, stdio: ['ignore', 'inherit', 'pipe'] });
      const exit = once(child, 'exit');
      t.after(async () => {
        child.kill('SIGKILL');
        await exit;
      });
      keepLines(role, child.stderr);
      const asked = healthcheck!.test
        .slice(1)
        .map((word) =>
          word
            .replace(`:${environment!.ECHELON_METRICS_PORT}/`, `:${metricsPort}/`)
            .replace(':7077/', `:${port}/`),
        );
      const [health, ...question] = here(asked);
      const healthy = () =>
        run(health!, question, { env }).then(
          () => true,
          () => false,
        );
      await until(healthy, 'the health check passes');
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      assert.match(metrics, new RegExp(`^echelon_build_info\\{.*role="${role}"\\} 1$`, 'm'));
      assert.match(metrics, new RegExp(`^echelon_store_up\\{role="${role}"\\} 1$`, 'm'));
      redis.freeze();
      await until(async () => !(await healthy()), 'the health check fails without Redis');
      assert.equal((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status, 200);
      redis.thaw();
      await until(healthy, 'it passes again');
      child.kill('SIGTERM');
      assert.deepEqual(await exit, [0, null]);
    });

  test("the Dockerfile's own health check asks the api", async () => {
    assert.deepEqual(await instruction('HEALTHCHECK'), [
      'node',
      '/opt/echelon/health.mjs',
      'http://127.0.0.1:7077/readyz',
    ]);
  });
});
