import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, glob, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { connect } from '../../../src/client/index.ts';
import { until } from '../../support/dispatch.ts';
import { appFor, TOKEN } from '../../support/http-app.ts';
import { installPackage } from '../../support/packed.ts';
import { storeFor } from '../../support/store.ts';

const run = promisify(execFile);

test('echelon-verify, installed alone, verifies a file from its program and as its README says', async () => {
  await using installed = await installPackage('echelon-verify');
  await cp('test/golden/hgpo.json', join(installed.directory, 'dump.json'));
  const program = join(installed.directory, 'node_modules/echelon-verify/dist/cli/verify-main.js');
  const { stdout } = await run(process.execPath, [program, 'dump.json'], { cwd: installed.directory });
  assert.match(stdout, /45 of 45 batches ok; 4,982 rows: .* 0 wrong, 0 unverifiable/);
  const example = await installed.runExample({});
  const lines = example.stdout.trim().split('\n');
  assert.equal(lines.length, 45);
  for (const line of lines) assert.match(line, / ok \d+ 0$/);
  const wrong = await run(process.execPath, [program, 'absent.json'], { cwd: installed.directory }).catch(
    (error: { code: number; stderr: string }) => error,
  );
  assert.deepEqual(['code' in wrong && wrong.code, /no such file/.test(wrong.stderr)], [2, true]);
});

test('echelon-verify uses nothing that Node 20 lacks', async () => {
  await using installed = await installPackage('echelon-verify');
  const { engines } = JSON.parse(await readFile('packages/echelon-verify/package.json', 'utf8'));
  assert.deepEqual(engines, { node: '>=20.16' });
  const later =
    /\b(?:(?:Map|Object)\.groupBy|Array\.fromAsync|Promise\.(?:withResolvers|try)|getFloat16|f16round)\b/;
  const dist = join(installed.directory, 'node_modules/echelon-verify/dist');
  for await (const file of glob('**/*.js', { cwd: dist }))
    assert.doesNotMatch(await readFile(join(dist, file), 'utf8'), later, file);
});

test('echelon-client, installed alone, submits and follows an experiment as its README says', async () => {
  const { store } = await storeFor({ after });
  const { app } = await appFor({ after }, { store });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as { port: number }).port}`;
  await using installed = await installPackage('echelon-client');
  assert.deepEqual(Object.keys(installed.manifest.dependencies), ['eventsource-parser']);
  const example = installed.runExample({ ECHELON_URL: url, ECHELON_TOKEN: TOKEN });
  const [id] = await until(async () => {
    const ids = await store.queue.ids(1);
    return ids.length > 0 && ids;
  }, 'the example submits its experiment');
  await connect({ url, token: TOKEN }).post('/v1/experiments/{id}/cancel', { path: { id: id! } });
  assert.deepEqual((await example).stdout.trim().split('\n'), ['state', 'state']);
});

test('a package of another name is not made', async () => {
  const made = run(process.execPath, [resolve('scripts/package.ts'), 'none']);
  await assert.rejects(made, /name one of the packages: echelon-client, echelon-verify, ray-client-ts/);
});
