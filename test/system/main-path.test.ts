import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { RowExplanation } from 'echelon-verify/explain';
import { formatExplanation } from 'echelon-verify/explain';
import type { BatchReport } from 'echelon-verify/report';
import { parse } from 'yaml';
import { readSpec } from '../../src/cli/folder-files.ts';
import { parseEntryId } from '../../src/core/ids.ts';
import { isFinal } from '../../src/core/states.ts';
import { assertWhole, historyOf } from '../support/history.ts';
import { lastMetrics, startScriptedAgent } from '../support/scripted-agent.ts';
import { processesOf, type RoleProcess, type System, startSystem, TOKEN } from '../support/system.ts';
import { testKills } from './kills.ts';
import { PREEMPT_WITHIN_MS, testPreemption } from './preemption.ts';
import { testRules } from './rules.ts';

/** A running system on Ray that the tests of several files share, one after another. */
export interface OnRay {
  readonly system: System;
  /** kill -9 of the only dispatcher, then a new one. */
  replaceDispatcher(): Promise<void>;
}

const SMALL = {
  rollout: { groups: 2, groupSize: 4 },
  training: { steps: 4, saveEvery: 2 },
  evaluation: { games: 5 },
};

describe('REST → store and queue → dispatch → Ray → training → events → verification → report', () => {
  let system: System;
  let dispatcher: RoleProcess;
  before(async () => {
    const environment = { ...process.env, ECHELON_PREEMPT_WITHIN_MS: String(PREEMPT_WITHIN_MS) };
    system = await startSystem({ environment });
    dispatcher = await system.startDispatcher();
  });
  after(() => system?.stop());

  const finished = (id: string) =>
    system.until(
      id,
      'the end',
      ({ state, verification }) => isFinal(state) && verification.status === 'complete',
    );

  test('a training succeeds, every row is verified, and no process is left', async () => {
    const spec = { name: 'small', engine: 'local', estimator: { name: 'hgpo', historyLength: 2 }, ...SMALL };
    const submitted = await system.submit(spec);
    const ended = await finished(submitted.id);
    assert.equal(ended.state, 'succeeded', ended.reason);
    assert.deepEqual([ended.attempt, ended.progress.step, ended.progress.steps], [1, 4, 4]);
    const { rowsSeen, rowsVerified, exact, rounding, wrong, errors, batches, dropped } = ended.verification;
    assert.equal(batches, 4);
    assert.ok(rowsSeen > 50);
    assert.deepEqual([rowsVerified, exact + rounding, wrong, errors, dropped], [rowsSeen, rowsSeen, 0, 0, 0]);
    assert.deepEqual(ended.checkpoint?.step, 4);
    assert.deepEqual(ended.submitted, spec);
    assert.deepEqual(await processesOf(ended.id), []);

    const history = await historyOf(system.client, ended.id);
    assertWhole(history);
    const states = history.flatMap(({ event }) => (event.type === 'state' ? [event.to] : []));
    assert.deepEqual(states, ['queued', 'launching', 'running', 'succeeded']);
  });

  test('a faulty estimator is found, and a wrong row is explained', async () => {
    const { id } = await system.submit({
      name: 'faulty',
      engine: 'replay',
      replay: { fault: 'zero-levels-kept' },
    });
    const ended = await finished(id);
    assert.equal(ended.state, 'succeeded', ended.reason);
    assert.ok(ended.verification.wrong > 0);
    const path = { id };
    const { items } = await system.client.get('/v1/experiments/{id}/verification', { path });
    const report = items[0]!.report as unknown as BatchReport;
    assert.equal(report.ok, false);
    const query = { batch: items[0]!.batch, row: report.wrongRows[0]! };
    const answer = await system.client.get('/v1/experiments/{id}/explain', { path, query });
    const explanation = answer.explanation as unknown as RowExplanation;
    assert.match(formatExplanation(explanation), new RegExp(`Row ${query.row} .*WRONG`));
  });

  test('the Python example submits, follows and reports an experiment over plain HTTP', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'echelon-python-'));
    t.after(() => rm(directory, { recursive: true }));
    const run = async (spec: object) => {
      const file = join(directory, 'spec.json');
      await writeFile(file, JSON.stringify(spec));
      return spawnSync(
        process.env.ECHELON_PYTHON ?? '.venv/bin/python',
        ['deploy/examples/submit_and_watch.py', system.client.url, file],
        { encoding: 'utf8', timeout: 150_000, env: { ...process.env, ECHELON_TOKEN: TOKEN } },
      );
    };
    const replay = { batches: 2, fault: 'sample-std' };
    const faulty = await run({ name: 'from Python', engine: 'replay', replay });
    assert.equal(faulty.status, 1, faulty.stderr);
    assert.match(faulty.stdout, /queued: .*running: .*step \d+: .*succeeded; \d+ advantages were WRONG/s);
    const sound = await run({ name: 'from Python', engine: 'replay', replay: { batches: 1 } });
    assert.equal(sound.status, 0, sound.stdout + sound.stderr);
    assert.match(sound.stdout, /succeeded; no advantage was wrong/);
    const refused = await run({ name: 'from Python', engine: 'reply' });
    assert.match(refused.stderr, /\/engine: .*did you mean replay\?/);
  });

  test('a cancelled experiment ends within its grace period even if it ignores SIGTERM, and frees its resources', async () => {
    // All CPUs: the next experiment has to wait.
    const { items } = await system.client.get('/v1/clusters');
    const cpus = items[0]!.nodes[0]!.cpusTotal;
    const spec = {
      name: 'stubborn',
      engine: 'replay',
      resources: { cpus },
      gracePeriodSeconds: 1,
      replay: { hang: true, ignoreSigterm: true },
    };
    const { id } = await system.submit(spec);
    await system.until(
      id,
      'running',
      ({ state, verification }) => state === 'running' && verification.batchesVerified > 0,
    );
    const { id: next } = await system.submit({ name: 'next', engine: 'replay', resources: { cpus } });
    const { items: queued } = await system.client.get('/v1/queues');
    assert.deepEqual(
      queued.map(({ experiment }) => experiment),
      [next],
    );
    assert.notDeepEqual(await processesOf(id), []);
    await system.client.post('/v1/experiments/{id}/cancel', { path: { id } });
    const ended = await finished(id);
    assert.equal(ended.state, 'cancelled');
    assert.deepEqual(await processesOf(id), []);
    assert.equal((await finished(next)).state, 'succeeded');
  });

  test('a training whose driver fails ends with the exit code as its reason and is not retried', async () => {
    const { id } = await system.submit({
      name: 'failing',
      engine: 'replay',
      replay: { stopAfter: 1, batches: 3, exitCode: 3 },
    });
    const ended = await finished(id);
    assert.deepEqual([ended.state, ended.attempt], ['failed', 1]);
    assert.match(ended.reason, /exit code 3/);
  });

  test("a program of the user's own resumes after kill -9 of its driver, its batches are verified, and a wrong one is found", async () => {
    const example = (await readSpec('deploy/examples/command.yaml', { remark: assert.fail })) as object;
    const { id } = await system.submit({ ...example, parameters: { lr: 0.02, steps: 16, delay: 0.3 } });
    await system.until(
      id,
      'a checkpoint and a report',
      ({ checkpoint, verification }) => (checkpoint?.step ?? 0) >= 3 && verification.batchesVerified > 0,
    );
    const driver = await driverOf(id);
    process.kill(driver, 'SIGKILL');
    const ended = await finished(id);
    assert.deepEqual([ended.state, ended.attempt, ended.progress.step], ['succeeded', 2, 16], ended.reason);
    const { rowsSeen, exact, rounding, errors } = ended.verification;
    assert.deepEqual([exact + rounding, errors], [rowsSeen, 0]);
    assert.deepEqual(await processesOf(id), []);
    const history = await historyOf(system.client, id);
    assertWhole(history);
    const steps = history.flatMap(({ id: at, event }) =>
      event.type === 'metrics' && parseEntryId(at)!.attempt === 2 ? [event.step] : [],
    );
    assert.ok(steps[0]! > 3, `attempt 2 began with step ${steps[0]}`);

    const faulty = JSON.parse(JSON.stringify(example).replace('statistics.stdev', 'statistics.pstdev'));
    const wrong = await system.submit({
      ...faulty,
      parameters: { lr: 0.02, steps: 1000, delay: 0.3 },
      gracePeriodSeconds: 1,
      rules: [{ name: 'wrong', when: { verification: 'wrongRows', above: 0 }, do: 'stop' }],
    });
    const stopped = await finished(wrong.id);
    assert.ok(stopped.verification.wrong > 0);
    assert.deepEqual([stopped.state, stopped.stoppedBy?.rule], ['cancelled', 'wrong']);
  });

  test("a training of TRL's GRPOTrainer runs as it is, and all its batches are verified", async (t) => {
    const python = process.env.ECHELON_PYTHON ?? '.venv/bin/python';
    const { status } = spawnSync(python, ['-c', 'import datasets, torch, trl']);
    if (status !== 0) return t.skip(`torch, datasets and trl are not installed for ${python}`);
    const { id } = await system.submit(
      await readSpec('deploy/examples/command-trl.yaml', { remark: assert.fail }),
    );
    const ended = await system.until(
      id,
      'the end',
      ({ state, verification }) => isFinal(state) && verification.status === 'complete',
      300_000,
    );
    assert.deepEqual([ended.state, ended.checkpoint?.step], ['succeeded', 6], ended.reason);
    const { batches, rowsSeen, exact, rounding, dropped } = ended.verification;
    assert.deepEqual([batches, exact + rounding, dropped], [6, rowsSeen, 0]);
  });

  test("the example of a prompted evaluation reaches the scripted agent's success rate, and stops at a budget", async (t) => {
    const agent = await startScriptedAgent();
    t.after(() => agent.stop());
    const example = parse(await readFile('deploy/examples/prompt.yaml', 'utf8'));
    const spec = { ...example, model: { ...example.model, baseUrl: agent.baseUrl } };
    const { id } = await system.submit(spec);
    const { state, reason, verification } = await finished(id);
    assert.equal(state, 'succeeded', reason);
    const metrics = await lastMetrics(system.client, id);
    // 11 of the 40 tasks ask for something hot.
    assert.equal(metrics['val/success_rate'], 29 / 40);
    const { paid } = await agent.counts();
    assert.deepEqual([metrics['calls/responses'], verification.rowsSeen], [paid, paid]);

    const limited = await system.submit({ ...spec, limits: { budget: 0.02 } });
    const stopped = await finished(limited.id);
    assert.deepEqual([stopped.state, stopped.attempt], ['failed', 1]);
    assert.match(stopped.reason, /BudgetError: .* of the budget of 0\.02/);
    const { 'cost/total': cost } = await lastMetrics(system.client, limited.id);
    // A call may cost 0.002 at most.
    assert.ok(cost! > 0.017 && cost! <= 0.02, `${cost}`);
  });

  test('the output of a training can be read from its logs', async () => {
    const { id } = await system.submit({ name: 'talking', engine: 'replay', replay: { logLines: 500 } });
    await finished(id);
    const { lines } = await system.client.get('/v1/experiments/{id}/logs', {
      path: { id },
      query: { tail: 1000 },
    });
    assert.ok(lines.length >= 500);
  });

  const onRay: OnRay = {
    get system() {
      return system;
    },
    async replaceDispatcher() {
      dispatcher.kill('SIGKILL');
      await dispatcher.ended;
      dispatcher = await system.startDispatcher();
    },
  };
  describe('a training with a wrong signal', () => testRules(onRay));
  describe('processes are killed while a training runs', () => testKills(onRay));
  describe('an urgent experiment preempts a training of a program with checkpoints', () =>
    testPreemption(onRay));
});

/** The process that the supervisor of a command started. */
async function driverOf(experiment: string): Promise<number> {
  const pids = await processesOf(experiment);
  for (const pid of pids) {
    const [, option, module] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (option === '-m' && module === 'echelon_rayworker.engines.command') return pid;
  }
  throw new Error(`none of ${pids.join(', ')} is the driver`);
}
