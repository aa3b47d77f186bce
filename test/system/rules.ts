import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { BundleHead } from '../../packages/echelon-verify/src/format/bundle.ts';
import { reportDigest } from '../../packages/echelon-verify/src/format/bundle.ts';
import { isFinal } from '../../src/core/states.ts';
import { until } from '../support/dispatch.ts';
import { assertWhole, historyOf } from '../support/history.ts';
import { processesOf, type System } from '../support/system.ts';
import type { OnRay } from './main-path.test.ts';

const CLI = new URL('../../src/cli/main.ts', import.meta.url).pathname;

interface Verified {
  file: string;
  bundle: { sameReport: boolean };
}

/** Runs a command that needs no server, in an environment without one. */
function offline(args: string[], cwd: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** The tests of rules, on a running system whose dispatcher they replace. */
export function testRules(onRay: OnRay): void {
  let system: System;
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-rules-'));
    ({ system } = onRay);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  /** The bytes of a replay bundle. */
  async function bundleOf(path: { id: string; attempt: number; batch: number }): Promise<Uint8Array> {
    const response = await system.client.open('/v1/experiments/{id}/batches/{attempt}/{batch}/bundle', {
      path,
    });
    return new Uint8Array(await response.arrayBuffer());
  }

  // Fails (two marks) if the memory of the rules is lost with the dispatcher and advance-rules.lua lets a rule that
  // fired fire again.
  test('a training with wrong rows is marked once and stopped by a rule after its dispatcher dies, and its bundle verifies offline', async () => {
    const { id } = await system.submit({
      name: 'faulty',
      engine: 'replay',
      gracePeriodSeconds: 2,
      replay: { fault: 'zero-levels-kept', batches: 500, delaySeconds: 0.2 },
      rules: [
        { preset: 'wrong-rows' },
        { name: 'always-wrong', when: { verification: 'wrongShare', above: 0 }, for: 12, do: 'stop' },
        { preset: 'coverage', do: 'stop' },
      ],
    });
    await system.until(id, 'the mark', ({ marks }) => marks === 1);
    await onRay.replaceDispatcher();
    const ended = await system.until(
      id,
      'the stop',
      ({ state, verification }) => isFinal(state) && verification.status === 'complete',
      150_000,
    );
    assert.deepEqual([ended.state, ended.attempt], ['cancelled', 1]);
    assert.equal(ended.stoppedBy?.rule, 'always-wrong');
    assert.match(
      ended.reason,
      /^rule always-wrong: wrongShare was 0\.\d+ at step \d+, batch \d+ .*driver was stopped/,
    );
    assert.deepEqual(await processesOf(id), []);

    const history = await historyOf(system.client, id);
    assertWhole(history);
    const events = history.flatMap(({ event }) => (event.type === 'rule' ? [event] : []));
    assert.deepEqual(
      events.map(({ rule }) => rule),
      ['wrong-rows', 'always-wrong'],
    );
    const { batch, evidence, attempt } = events[1]!;
    assert.equal(evidence.values.length, 5);
    assert.equal(evidence.values.at(-1)?.batch, batch);
    // Reports may arrive in another order than their batches, and `for` counts reports.
    const reports = history.slice(
      0,
      history.findIndex(({ event }) => event === events[1]),
    );
    assert.ok(reports.filter(({ event }) => event.type === 'verification').length >= 12);

    const bytes = await bundleOf({ id, attempt, batch: batch! });
    await writeFile(join(directory, 'batch.json.gz'), bytes);
    const head = (JSON.parse(gunzipSync(bytes).toString()) as { bundle: BundleHead }).bundle;
    const verified = offline(['verify', '--json', 'batch.json.gz'], directory);
    assert.equal(verified.status, 1, verified.stderr);
    const [{ file: _file, bundle, ...report }] = (JSON.parse(verified.stdout) as { batches: [Verified] })
      .batches;
    assert.equal(bundle.sameReport, true);
    assert.equal(reportDigest(report), head.reportDigest);
    assert.deepEqual([head.experiment, head.batch], [id, batch]);
    const compared = offline(['compare', 'batch.json.gz', '--estimators', 'hgpo,gigpo,grpo'], directory);
    assert.equal(compared.status, 0, compared.stderr);
    assert.match(compared.stdout, /gigpo/);
  });

  for (const [fault, code] of [
    ['shuffled-rows', 'steps-out-of-order'],
    ['sample-std', 'wrong-rows'],
  ] as const) {
    test(`a replay with ${fault} is stopped by the rule on its finding, and its bundle verifies with the same finding`, async () => {
      const { id } = await system.submit({
        name: fault,
        engine: 'replay',
        gracePeriodSeconds: 2,
        replay: { fault, batches: 500, delaySeconds: 0.2 },
        rules: [{ name: 'finding', when: { errors: [code] }, do: 'stop' }],
      });
      const ended = await system.until(
        id,
        'the stop',
        ({ state, verification }) => isFinal(state) && verification.status === 'complete',
      );
      assert.equal(ended.state, 'cancelled', ended.reason);
      const [fired] = ended.rules[0]!.fired;
      assert.ok(fired?.batch && String(fired.evidence.values[0]?.value).includes(code));
      const file = `${fault}.json.gz`;
      await writeFile(
        join(directory, file),
        await bundleOf({ id, attempt: fired.attempt, batch: fired.batch }),
      );
      const verified = offline(['verify', file], directory);
      assert.equal(verified.status, 1, verified.stderr);
      assert.match(verified.stdout, new RegExp(`error +${code}: `));
      assert.match(verified.stdout, /: equal to the stored report/);
    });
  }

  // Fails (the child continues) if a comparison has no other children, or its stop is not executed.
  test('a child of a sweep that is worse than the median of the others is stopped early, once', async () => {
    const metric = 'critic/advantages/max';
    const { id } = await system.client.post('/v1/sweeps', {
      body: {
        name: 'early stopping',
        method: 'list',
        spec: { engine: 'replay', gracePeriodSeconds: 2 },
        axes: {
          // Groups of one have less to compare: their largest advantage stays below 2, the others reach 5.6.
          '/replay/fault': ['none', 'sample-std', 'groups-of-one'],
          '/replay/batches': [60, 60, 500],
          '/replay/delaySeconds': [0, 0, 0.5],
        },
        earlyStopping: { metric, goal: 'max', afterSteps: 3, everySteps: 1, minChildren: 2 },
      },
    });
    const { children } = await system.client.get('/v1/sweeps/{id}', { path: { id } });
    const worst = children[2]!.experiment;
    const now = () => system.client.get('/v1/sweeps/{id}', { path: { id } });
    const over = async () => {
      const sweep = await now();
      return sweep.state === 'done' && sweep;
    };
    const sweep = await until(over, 'the sweep is over', { seconds: 120, instead: now });
    assert.deepEqual(
      sweep.children.map(({ state }) => state),
      ['succeeded', 'succeeded', 'cancelled'],
    );
    assert.equal(sweep.stoppedEarly, 1);
    const ended = await system.get(worst);
    assert.equal(ended.stoppedBy?.rule, 'early-stopping');
    const words =
      /^early stopping: the best (\S+) by step (\d+) was 1\.9\d*, the median .* of 2 others 3\.\d+/;
    const [, named, step] = words.exec(ended.reason) ?? [];
    assert.ok(named === metric && Number(step) >= 3 && Number(step) <= 60, ended.reason);
    assert.deepEqual(await processesOf(worst), []);
    const history = await historyOf(system.client, worst);
    assertWhole(history);
    // Groups of one are a wrong signal too, by the default rules.
    const fired = history.flatMap(({ event }) => (event.type === 'rule' ? [event.rule] : []));
    assert.deepEqual(fired.sort(), ['early-stopping', 'wrong-signal']);
    const { items } = await system.client.get('/v1/sweeps/{id}/comparison', { path: { id } });
    assert.deepEqual(
      items.map(({ children: of, succeeded }) => [of, succeeded]),
      [
        [1, 1],
        [1, 1],
        [1, 0],
      ],
    );
  });
}
