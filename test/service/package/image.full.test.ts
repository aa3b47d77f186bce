import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { readCompose } from '../../support/deploy.ts';
import { until } from '../../support/dispatch.ts';
import { keepLines } from '../../support/kept-log.ts';
import { builtFor, layImage } from '../../support/packed.ts';
import { freePort, redisFor } from '../../support/redis.ts';

const run = promisify(execFile);
const built = await builtFor({ after });

/** JSON array of an instruction of the Dockerfile, e.g. of ENTRYPOINT. */
async function instruction(name: string): Promise<string[]> {
  const text = (await readFile('deploy/docker/Dockerfile', 'utf8')).replace(/\\\n/g, ' ');
  const found = new RegExp(`^${name}.*?(\\[.*\\])$`, 'm').exec(text);
  assert.ok(found, name);
  return JSON.parse(found[1]!) as string[];
}

describe('the files of the image, elsewhere with production dependencies only', () => {
  let place: string;

  before(async () => {
    place = await mkdtemp(join(tmpdir(), 'echelon-package-'));
    await layImage(built, place);
  });
  after(() => rm(place, { recursive: true, force: true }));

  const echelon = (...args: string[]) =>
    run(process.execPath, [join(place, 'dist/cli/main.js'), ...args], { cwd: place });

  test('the program of the image, with production dependencies only, says what it can do', async () => {
    const { stdout } = await echelon('--help');
    for (const command of ['up', 'submit', 'watch', 'verify', 'doctor'])
      assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
  });

  test('it verifies a recorded batch', async () => {
    const { stdout } = await echelon('verify', resolve('test/golden/hgpo.json'), '--json');
    const { batches } = JSON.parse(stdout) as { batches: { ok: boolean }[] };
    assert.equal(batches.length, 45);
    assert.ok(batches.every(({ ok }) => ok));
  });

  test('it contains what it needs and nothing else', async () => {
    const files = (await readdir(place, { recursive: true })).filter(
      (path) => !path.startsWith('node_modules/'),
    );
    assert.ok(files.includes('deploy/ray-worker/echelon_rayworker/supervisor.py'));
    assert.ok(files.some((path) => path.endsWith('.lua')));
    assert.ok(files.includes('dist/node_modules/echelon-dashboard/dist/gen/index.html'));
    const foreign = files.filter((path) => /(^|\/)(test|tests|scripts)(\/|$)|^src\/|[^d]\.ts$/.test(path));
    assert.deepEqual(foreign, []);
  });

  /** A command of the image, its paths here. */
  const here = (command: string[]) =>
    command.map((word) =>
      word === 'node'
        ? process.execPath
        : word.startsWith('/opt/echelon/health.mjs')
          ? resolve('deploy/docker/health.mjs')
          : word.replace('/opt/echelon', place),
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
