import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newExperimentId } from '../../../../src/core/ids.ts';
import { type Caller, SCOPES } from '../../../../src/core/scopes.ts';
import type { ExperimentSpec } from '../../../../src/engines/registry.ts';
import { inOwnProject, projectProblem } from '../../../../src/http/access/caller-projects.ts';
import { createIntake } from '../../../../src/http/intake/intake.ts';
import { makeProjects } from '../../../support/access.ts';
import { appFor, REPLAY } from '../../../support/http-app.ts';
import { clusterRecord, storeFor, submitInput } from '../../../support/store.ts';
import { DIRECTORY, recordTraining, type TrainingOptions } from '../../../support/training.ts';

const { store } = await storeFor({ after });
const deps = { store, settings: { promptEndpoints: [] } };
await makeProjects(store, 'mine', 'other');
for (const name of ['local', 'spare']) {
  await store.clusters.put(clusterRecord({ name, address: 'h:1' }));
}
const { call } = await appFor({ after }, { store });
const BOUND: Caller = { id: 'a', name: 'a', project: 'mine', scopes: SCOPES };
const ALL: Caller = { ...BOUND, project: null };
const take = (caller: Caller, spec: ExperimentSpec) => createIntake(deps, caller).take(spec);
const EVALUATION = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_eval' } as const;
const evaluationOf = (experiment: string, more: object = {}, step?: number) => ({
  ...EVALUATION,
  evaluation: { checkpoint: { experiment, ...(step !== undefined && { step }) } },
  ...more,
});
const exportOf = (experiment: string) => ({
  engine: 'verl-agent-export',
  name: 'x',
  checkpoint: { experiment },
});

/** The only problem of a refused submission. */
async function problemOf(
  body: object,
  path = '/v1/experiments',
): Promise<{ field: string; message: string }> {
  const answer = await call('POST', path, { body });
  assert.deepEqual([answer.statusCode, answer.json().code], [400, 'invalid-spec'], answer.body);
  assert.equal(answer.json().problems.length, 1);
  return answer.json().problems[0];
}

test("a spec without a project is taken into the caller's own project, which is listed as a default", async () => {
  const bound = await take(BOUND, REPLAY);
  assert.equal(bound.spec.project, 'mine');
  assert.ok(bound.defaults.includes('/project'));
  assert.equal((await take(ALL, REPLAY)).spec.project, 'default');
  const named = await take(BOUND, { ...REPLAY, project: 'mine' });
  assert.ok(!named.defaults.includes('/project'));
  assert.deepEqual(inOwnProject(BOUND, { project: 'other' }), { project: 'other' });
});

test('an unknown project is refused, and any foreign project of a bound caller with the same words', async () => {
  const problems = async (caller: Caller, project: string) => {
    const thrown = await take(caller, { ...REPLAY, project }).catch((error) => error);
    assert.equal(thrown.code, 'invalid-spec');
    return thrown.problems;
  };
  assert.deepEqual(await problems(ALL, 'othr'), [
    { field: '/project', message: 'is not the name of a project; did you mean other?' },
  ]);
  assert.deepEqual(await problems(BOUND, 'other'), await problems(BOUND, 'zzzzz'));
  assert.match((await problems(BOUND, 'other'))[0].message, /known: mine/);
  assert.equal((await problems(BOUND, 'default')).length, 1);
  assert.equal(await projectProblem(store, ALL, 'other'), undefined);
});
describe('an evaluation that names its training', () => {
  test('an evaluation that names its training is planned and submitted with its last checkpoint, on its cluster, with its GPUs, model and variables', async () => {
    const id = await recordTraining(store, {
      spec: {
        env: { HF_HUB_OFFLINE: '1' },
        model: { path: 'org/mine-3B', loraRank: 8 },
      } as Partial<ExperimentSpec>,
    });
    const body = evaluationOf(id);
    const { resolved, plan, defaults } = (await call('POST', '/v1/plans', { body })).json();
    assert.deepEqual(resolved.evaluation.checkpoint, { directory: DIRECTORY, step: 80 });
    assert.deepEqual(
      [resolved.cluster, resolved.resources.gpus, resolved.env],
      ['local', 4, { HF_HUB_OFFLINE: '1' }],
    );
    assert.deepEqual([resolved.model.path, resolved.model.loraRank], ['org/mine-3B', 8]);
    assert.equal(resolved.environment.historyLength, 4);
    assert.ok(plan.arguments.some((word: string) => word.includes(`{sharedRoot}/checkpoints/${DIRECTORY}`)));
    for (const pointer of ['/cluster', '/evaluation/checkpoint/step', '/resources/gpus', '/project'])
      assert.ok(defaults.includes(pointer), pointer);
    const accepted = await call('POST', '/v1/experiments', { body });
    const record = (await store.experiments.get(accepted.json().id))!;
    assert.deepEqual(record.submitted, body);
    assert.deepEqual(record.resolved, { ...resolved, deadline: null });
  });

  test('an evaluation that names its training takes what its own spec says before what the training has, and an earlier step', async () => {
    const body = evaluationOf(
      await recordTraining(store),
      { model: { path: 'org/b' }, rollout: { tensorParallelSize: 4 } },
      40,
    );
    const { resolved } = (await call('POST', '/v1/plans', { body })).json();
    assert.deepEqual([resolved.model.path, resolved.rollout.tensorParallelSize], ['org/b', 4]);
    assert.equal(resolved.evaluation.checkpoint.step, 40);
  });

  test('an evaluation that names its training is refused on another cluster, and with other GPUs', async () => {
    const id = await recordTraining(store);
    const elsewhere = await problemOf(evaluationOf(id, { cluster: 'spare' }));
    assert.deepEqual([elsewhere.field, /must be local/.test(elsewhere.message)], ['/cluster', true]);
    const gpus = await problemOf(evaluationOf(id, { resources: { gpus: 2 } }));
    assert.deepEqual([gpus.field, /must give 4 GPUs in all/.test(gpus.message)], ['/resources', true]);
  });

  const field = '/evaluation/checkpoint/experiment';
  const refused: [what: string, options: TrainingOptions, message: RegExp][] = [
    ['a training that runs', { runs: true }, /has not ended \(running\): wait for its end, or set step/],
    ['a training without a checkpoint', { step: 0 }, /has saved no checkpoint \(succeeded\)/],
    [
      'a training that saves none',
      { spec: { training: { saveEvery: 0 } } as Partial<ExperimentSpec> },
      /saveEvery is 0/,
    ],
    [
      'an experiment of another engine',
      { spec: { engine: 'replay' } },
      /engine replay, which saves no such checkpoint/,
    ],
    ['a training of another project', { project: 'mine' }, /belongs to the project mine; set project/],
  ];
  for (const [what, options, message] of refused) {
    test(`an evaluation that names its training is refused for ${what}, with the field and the remedy`, async () => {
      const problem = await problemOf(evaluationOf(await recordTraining(store, options)));
      assert.equal(problem.field, field);
      assert.match(problem.message, message);
    });
  }

  test('an evaluation that names its training is refused for an evaluation, an unknown id and a training that the caller does not see, the last two alike', async () => {
    const evaluation = await recordTraining(store, {
      spec: {
        ...EVALUATION,
        evaluation: { checkpoint: { directory: DIRECTORY } },
      } as Partial<ExperimentSpec>,
    });
    assert.match((await problemOf(evaluationOf(evaluation))).message, /is an evaluation; name its training/);
    assert.match(
      (await problemOf(evaluationOf(newExperimentId()))).message,
      /is not the id of an experiment/,
    );
    const seen = async (id: string) =>
      createIntake(deps, BOUND)
        .complete({ ...evaluationOf(id), project: 'mine' })
        .catch((error) => error.problems);
    const foreign = await recordTraining(store, { project: 'other' });
    assert.deepEqual(await seen(foreign), await seen(newExperimentId()));
    const own = await seen(await recordTraining(store, { project: 'mine' }));
    assert.equal(own.evaluation.checkpoint.directory, DIRECTORY);
  });

  test('an evaluation of a running training is accepted with a step that is named', async () => {
    const id = await recordTraining(store, { runs: true, step: 40 });
    const { resolved } = (await call('POST', '/v1/plans', { body: evaluationOf(id, {}, 40) })).json();
    assert.equal(resolved.evaluation.checkpoint.step, 40);
  });

  test('needs the permissions of the training whose settings it takes', async () => {
    const spec = { home: '/opt/elsewhere' } as Partial<ExperimentSpec>;
    const id = await recordTraining(store, { spec, project: 'mine' });
    const plain: Caller = { ...BOUND, scopes: ['read', 'submit'] };
    const body = { ...evaluationOf(id), project: 'mine' } as ExperimentSpec;
    assert.equal((await take(BOUND, body)).spec.cluster, 'local');
    const { problems } = await take(plain, body).catch((error) => error);
    assert.deepEqual(
      problems.map(({ field }: { field: string }) => field),
      ['/home'],
    );
  });
});

describe('a sweep whose spec names a training', () => {
  const sweep = (experiment: string, axes: object) => ({
    name: 's',
    method: 'grid',
    axes,
    spec: evaluationOf(experiment),
  });

  test('a sweep whose spec names a training has children with its checkpoint on its cluster', async () => {
    const id = await recordTraining(store);
    const answer = await call('POST', '/v1/sweeps/preview', {
      body: sweep(id, { 'environment.seed': [1, 2] }),
    });
    const specs = answer.json().children.map(({ spec }: { spec: object }) => spec);
    for (const [at, spec] of specs.entries()) {
      assert.deepEqual(spec.evaluation, { checkpoint: { directory: DIRECTORY, step: 80 } });
      assert.deepEqual([spec.cluster, spec.environment.seed], ['local', at + 1]);
    }
  });

  test('a sweep whose spec names a training refuses an unknown training, clusters as an axis, and trainings as an axis', async () => {
    const unknown = await problemOf(sweep(newExperimentId(), { 'environment.seed': [1] }), '/v1/sweeps');
    assert.equal(unknown.field, '/spec/evaluation/checkpoint/experiment');
    const id = await recordTraining(store);
    const clusters = await problemOf(sweep(id, { cluster: ['local', 'spare'] }), '/v1/sweeps');
    assert.match(clusters.message, /cannot be an axis: the spec names a training/);
    const { evaluation: _evaluation, ...spec } = evaluationOf(id);
    const body = {
      ...sweep(id, { 'evaluation.checkpoint.experiment': [id] }),
      spec: { ...spec, cluster: 'local' },
    };
    assert.match(
      (await problemOf(body, '/v1/sweeps')).message,
      /is looked up by the server, in a single spec/,
    );
  });
});

describe('an export that names its training', () => {
  test('an export that names its training has its last checkpoint, its cluster, its checkout and CPUs by the size of its model', async () => {
    const spec = { home: '/opt/verl', model: { path: 'org/mine-14B' } } as Partial<ExperimentSpec>;
    const { resolved } = (
      await call('POST', '/v1/plans', { body: exportOf(await recordTraining(store, { spec })) })
    ).json();
    assert.deepEqual(resolved.checkpoint, { directory: DIRECTORY, step: 80 });
    assert.deepEqual(
      [resolved.cluster, resolved.env, resolved.resources.cpus],
      ['local', { VERL_AGENT_HOME: '/opt/verl' }, 7],
    );
  });

  test('an export that names its training is refused for a training of LoRA adapters, and for an export', async () => {
    const lora = { model: { loraRank: 8 } } as Partial<ExperimentSpec>;
    const problem = await problemOf(exportOf(await recordTraining(store, { spec: lora })));
    assert.deepEqual([problem.field, /LoRA/.test(problem.message)], ['/checkpoint/experiment', true]);
    const exported = submitInput({ resolved: { engine: 'verl-agent-export' } });
    await store.experiments.submit(exported);
    assert.match(
      (await problemOf(exportOf(exported.id))).message,
      /engine verl-agent-export, which saves no such/,
    );
  });
});

test('a spec with a checkpoint directory is refused on clusters that do not have it, and while its cluster is not known', async () => {
  const reading = (directory: string, more: object = {}) => ({
    ...EVALUATION,
    evaluation: { checkpoint: { directory } },
    ...more,
  });
  const sweep = (spec: object) => ({ name: 's', method: 'grid', spec, axes: { 'environment.seed': [1, 2] } });
  for (const path of ['/v1/experiments', '/v1/plans', '/v1/preflight']) {
    const problem = await problemOf(reading('p/unreported'), path);
    assert.equal(problem.field, '/cluster');
    assert.match(problem.message, /may run on local, spare\. Name the cluster, or the training by its id/);
  }
  const answer = await problemOf(sweep(reading('p/unreported')), '/v1/sweeps');
  assert.match(answer.message, /in child 0, \/cluster: is missing/);
  assert.equal(
    (await call('POST', '/v1/plans', { body: reading('p/unreported', { cluster: 'spare' }) })).statusCode,
    200,
  );
  await recordTraining(store);
  for (const body of [reading(DIRECTORY, { cluster: 'spare' }), reading(DIRECTORY)])
    assert.match((await problemOf(body)).message, /must be local, which has the checkpoints in/);
  assert.equal(
    (await call('POST', '/v1/plans', { body: reading(DIRECTORY, { cluster: 'local' }) })).statusCode,
    200,
  );
});
