import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { linkProductionDependencies, unpackPackage } from '../../support/packed.ts';

const run = promisify(execFile);

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
      import { connect as api, events, submitExperiment } from 'echelon/client';
      const client = api({ url: 'http://127.0.0.1:1', token: 'x' });
      const { error } = await submitExperiment({ client, body: {} }).catch((error) => ({ error }));
      console.log(typeof verifyBatch, typeof connect, typeof events, String(error));`);
    assert.match(stdout, /^function function function .*(?:fetch failed|ECONNREFUSED|Error)/);
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
});
