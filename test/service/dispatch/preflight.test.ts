import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newCommandId } from '../../../src/core/ids.ts';
import type { ExperimentSpec } from '../../../src/engines/registry.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { AGREEING, type Bench, startBench, until } from '../../support/dispatch.ts';
import { type PythonRayWorker, startPythonRayWorker } from '../../support/python-ray-worker.ts';

describe('a preflight through a dispatcher and the real ray-worker', () => {
  let bench: Bench;
  let rayWorker: PythonRayWorker;
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-preflight-'));
    rayWorker = await startPythonRayWorker(directory);
    bench = await startBench();
    const [fake] = await bench.store.clusters.list();
    await bench.store.clusters.put({
      ...fake!,
      name: 'real',
      address: rayWorker.address,
      token: rayWorker.token,
    });
    await bench.dispatcher({
      verifier: AGREEING,
      compile: compilePlan,
      pack: () => assert.fail('nothing is to be brought'),
    });
  });
  after(async () => {
    await bench.stop();
    await rayWorker.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function look(spec: ExperimentSpec) {
    const id = newCommandId();
    const request = resolveSpec(spec, { customCode: true });
    await bench.store.commands.create({
      id,
      cluster: 'real',
      kind: 'preflight',
      request,
      secret: null,
      project: 'default',
    });
    return await until(async () => {
      const command = await bench.store.commands.get(id);
      return command?.endedAt ? command : undefined;
    }, 'the preflight is over');
  }

  test('a preflight through a dispatcher and the real ray-worker finds no problem in a spec of a small engine, and starts nothing', async () => {
    const { state, findings } = await look({ engine: 'replay', name: 'x', replay: { batches: 2 } });
    assert.equal(state, 'succeeded');
    assert.deepEqual(
      findings.map(({ severity, check }) => `${severity} ${check}`),
      ['ok cluster', 'ok room', 'ok record'],
    );
  });

  test('a preflight through a dispatcher and the real ray-worker lists the problems of a verl-agent spec, the room and the checkout, errors first', async () => {
    const spec: ExperimentSpec = {
      engine: 'verl-agent',
      name: 'v',
      recipe: 'qwen2.5_1.5b_alfworld_train',
      home: join(directory, 'nowhere'),
    };
    const { state, findings } = await look(spec);
    assert.equal(state, 'succeeded');
    const errors = findings.filter(({ severity }) => severity === 'error');
    const checkout = errors.find(({ check }) => check === 'checkout');
    assert.match(checkout!.message, /nowhere holds no recipe\.hgpo\.main_hgpo/);
    assert.match(checkout!.remedy, /put a verl-agent checkout/);
    assert.ok(errors.some(({ check }) => check === 'room'));
    assert.ok(findings.some(({ severity, check }) => severity === 'ok' && check === 'padding'));
    assert.deepEqual(findings.slice(0, errors.length), errors);
  });
});
