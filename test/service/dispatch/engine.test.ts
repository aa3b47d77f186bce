import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { allEngines } from '../../../src/engines/registry.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { addEngine } from '../../support/add-engine.ts';
import { COUNTDOWN } from '../../support/countdown/engine.ts';
import { AGREEING, type Bench, startBench, until } from '../../support/dispatch.ts';
import { appFor, type TestApp } from '../../support/http-app.ts';
import { type PythonRayWorker, startPythonRayWorker } from '../../support/python-ray-worker.ts';

const ROOT = join(import.meta.dirname, '../../..');
const EXAMPLE = join(ROOT, 'test/support/countdown');

describe('an engine that is added as docs/contributing/engines.md says', () => {
  let directory: string;
  let rayWorker: PythonRayWorker;
  let bench: Bench;
  let api: TestApp;
  let remove: () => void;
  const closing: (() => unknown)[] = [];

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-engine-'));
    const rayWorkerPackage = join(directory, 'echelon_rayworker');
    await cp(join(ROOT, 'deploy/ray-worker/echelon_rayworker'), rayWorkerPackage, { recursive: true });
    for (const file of ['__init__.py', '__main__.py'])
      await cp(join(EXAMPLE, file), join(rayWorkerPackage, 'engines/countdown', file));
    remove = addEngine(COUNTDOWN);
    rayWorker = await startPythonRayWorker(directory, {}, directory);
    bench = await startBench();
    const [fake] = await bench.store.clusters.list();
    const { address, token } = rayWorker;
    await bench.store.clusters.put({ ...fake!, name: 'real', address, token });
    await bench.dispatcher({
      verifier: AGREEING,
      compile: compilePlan,
      pack: () => assert.fail('no package is to be uploaded'),
    });
    api = await appFor(
      { after: (close) => void closing.push(close) },
      { store: bench.store, enqueue: bench.queue.enqueue },
    );
  });
  after(async () => {
    for (const close of closing) await close();
    remove();
    await bench.stop();
    await rayWorker.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const body = { ...COUNTDOWN.example, cluster: 'real' };

  test('an engine that is added as docs/contributing/engines.md says is described by the document of the API', () => {
    const document = JSON.stringify(api.app.swagger());
    assert.match(document, /"countdown":"#\/components\/schemas\/CountdownSpec"/);
    assert.match(document, /Counts down to 1/);
  });

  test('validates its own fields, and is named to those who misspell it', async () => {
    const bad = await api.call('POST', '/v1/experiments', { body: { ...body, from: 0 } });
    assert.equal(bad.statusCode, 400);
    assert.equal(bad.json().code, 'invalid-spec');
    assert.equal(bad.json().problems[0].field, '/from');
    const unknown = await api.call('POST', '/v1/experiments', { body: { ...body, engine: 'countdwon' } });
    assert.equal(unknown.json().code, 'invalid-spec');
    assert.match(unknown.json().problems[0].message, /verl-agent.* or countdown.*did you mean countdown\?/);
  });

  test('an engine that is added as docs/contributing/engines.md says has a plan', async () => {
    const { plan, resolved } = (await api.call('POST', '/v1/plans', { body })).json();
    assert.equal(plan.module, 'echelon_rayworker.engines.countdown');
    assert.equal(JSON.parse(plan.files['spec.json']).spec.from, 5);
    assert.equal(resolved.resources.cpus, 1);
  });

  test('an engine that is added as docs/contributing/engines.md says passes a preflight on the cluster', async () => {
    const begun = await api.call('POST', '/v1/preflight', { body });
    assert.equal(begun.statusCode, 202, begun.body);
    const over = await until(async () => {
      const command = (await api.call('GET', begun.headers.location!)).json();
      return ['succeeded', 'failed'].includes(command.state) ? command : undefined;
    }, 'the preflight is over');
    assert.deepEqual(
      over.findings.map(({ severity, check }: Record<string, string>) => `${severity} ${check}`),
      ['ok cluster', 'ok room', 'ok engine'],
    );
  });

  test('an engine that is added as docs/contributing/engines.md says is submitted, launched and followed to its end', async () => {
    const accepted = await api.call('POST', '/v1/experiments', { body });
    assert.equal(accepted.statusCode, 202, accepted.body);
    const record = await bench.reaches(accepted.json().id, 'succeeded');
    assert.equal(record.progress.step, 5);
    assert.equal(record.progress.metrics['countdown/number'], 1);
  });
});

test('docs/contributing/engines.md has the example as it is tested, touches four files and names every engine', async () => {
  const page = await readFile(join(ROOT, 'docs/contributing/engines.md'), 'utf8');
  for (const file of ['engine.ts', '__init__.py', '__main__.py']) {
    const text = await readFile(join(EXAMPLE, file), 'utf8');
    const there = text.replaceAll("'../../../src/engines/", "'../").replaceAll("'../../../src/", "'../../");
    assert.ok(page.includes(`\n${there}\`\`\``), `docs/contributing/engines.md has another ${file}`);
  }
  const touched = page.match(/^\| `(src|deploy)\/[^`]+` \|/gm) ?? [];
  assert.equal(touched.length, 4);
  for (const { name, summary } of allEngines())
    assert.ok(
      page.includes(`| \`${name}\` | ${summary} |`),
      `docs/contributing/engines.md has no row for ${name}`,
    );
});
