import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { SWEEP_ID } from '../../../../../src/core/ids.ts';
import { makeProjects } from '../../../../support/access.ts';
import { cpuTimeOf } from '../../../../support/cpu-time.ts';
import { appFor } from '../../../../support/http-app.ts';
import { clusterRecord, storeFor } from '../../../../support/store.ts';
import { expandAll, sweepRequest } from '../../../../support/sweep.ts';

const { store } = await storeFor({ after });
await makeProjects(store, 'swept');
const { call } = await appFor({ after }, { store });

const ESTIMATORS = {
  name: 'estimators',
  method: 'grid',
  spec: { engine: 'local' },
  axes: { estimator: [{ name: 'hgpo' }, { name: 'grpo' }], 'training.seed': [1, 2] },
};

describe('cost of a sweep preview', () => {
  // Fails if every child is checked: that costs 5,000 times one check.
  test('a preview with an invalid shared spec checks only a few of 5,000 children', async () => {
    const junk = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`unknown_field_${at}`, 1]));
    const seeds = Array.from({ length: 5000 }, (_, at) => at);
    const body = { ...ESTIMATORS, spec: { engine: 'local', ...junk }, axes: { 'training.seed': seeds } };
    let answer: Awaited<ReturnType<typeof call>> | undefined;
    const ms = await cpuTimeOf(async () => {
      answer = await call('POST', '/v1/sweeps/preview', { body });
    });
    assert.deepEqual([answer?.statusCode, answer?.json().code], [400, 'invalid-spec']);
    assert.ok(ms < 1500, `${ms} ms of CPU`);
  });

  test('a third parallel preview or submission of one caller gets 429', async () => {
    const body = {
      ...ESTIMATORS,
      method: 'random',
      count: 2000,
      spec: { engine: 'replay' },
      axes: { priority: [1, 2] },
    };
    const preview = () => call('POST', '/v1/sweeps/preview', { body });
    const answers = await Promise.all([preview(), preview(), preview()]);
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 200, 429]);
    const submit = () => call('POST', '/v1/sweeps', { body });
    const submitted = await Promise.all([submit(), submit(), preview()]);
    assert.deepEqual(submitted.map(({ statusCode }) => statusCode).sort(), [202, 202, 429]);
    assert.equal((await preview()).statusCode, 200);
  });
});

describe('POST /v1/sweeps', () => {
  test('a sweep creates the same experiments as single submissions of its children', async () => {
    const answer = await call('POST', '/v1/sweeps', { body: ESTIMATORS });
    assert.equal(answer.statusCode, 202, answer.body);
    const { id, count, self } = answer.json();
    assert.match(id, SWEEP_ID);
    assert.deepEqual([count, self, answer.headers.location], [4, `/v1/sweeps/${id}`, self]);
    const children = await expandAll(store, id);
    const third = (await store.experiments.get(children[2]!))!;
    const alone = await call('POST', '/v1/experiments', { body: third.submitted });
    const single = (await store.experiments.get(alone.json().id))!;
    for (const field of ['name', 'project', 'priority', 'resolved', 'defaults', 'fingerprint'] as const)
      assert.deepEqual(third[field], single[field]);
    assert.ok(third.fingerprint?.startsWith('grpo'));
  });

  test('a sweep stores its early stopping, and refuses conditions that can never be met', async () => {
    const earlyStopping = { metric: 'm', goal: 'max', afterSteps: 5, everySteps: 5, minChildren: 3 };
    const answer = await call('POST', '/v1/sweeps', { body: { ...ESTIMATORS, earlyStopping } });
    assert.equal(answer.statusCode, 202, answer.body);
    const sweep = (await call('GET', answer.json().self)).json();
    assert.deepEqual([sweep.earlyStopping, sweep.stoppedEarly], [earlyStopping, 0]);
    const refused = async (changes: object) => {
      const body = { ...ESTIMATORS, earlyStopping: { ...earlyStopping, ...changes } };
      return (await call('POST', '/v1/sweeps', { body })).json().problems[0];
    };
    assert.deepEqual(await refused({ minChildren: 4 }), {
      field: '/earlyStopping/minChildren',
      message: 'must be at most 3: that many other children there are for each',
    });
    assert.match((await refused({ metrik: 'm' })).message, /did you mean metric\?/);
    assert.equal((await refused({ goal: 'most' })).field, '/earlyStopping/goal');
  });

  test('two equal sweeps with one Idempotency-Key are one sweep, and another body gets 409', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, again] = await Promise.all([
      call('POST', '/v1/sweeps', { body: ESTIMATORS, headers }),
      call('POST', '/v1/sweeps', { body: ESTIMATORS, headers }),
    ]);
    assert.deepEqual(first.json(), again.json());
    const other = { ...ESTIMATORS, name: 'other' };
    assert.equal((await call('POST', '/v1/sweeps', { body: other, headers })).statusCode, 409);
    const single = { engine: 'replay', name: 'a replay' };
    assert.equal((await call('POST', '/v1/experiments', { body: single, headers })).statusCode, 409);
  });

  test('a sweep with one invalid child is refused with its field, and nothing is created', async () => {
    const before = await store.sweeps.list({ limit: 100 });
    const body = { ...ESTIMATORS, axes: { ...ESTIMATORS.axes, 'training.seed': [1, -2] } };
    const answer = await call('POST', '/v1/sweeps', { body });
    assert.deepEqual([answer.statusCode, answer.json().code], [400, 'invalid-spec']);
    const [problem] = answer.json().problems;
    assert.equal(problem.field, '/axes/training.seed/1');
    assert.match(problem.message, /^in child 1, \/training\/seed: must be an integer/);
    assert.deepEqual(await store.sweeps.list({ limit: 100 }), before);
  });

  test('a sweep with an unknown field or cluster is refused with its name', async () => {
    const unknown = await call('POST', '/v1/sweeps', { body: { ...ESTIMATORS, axis: {} } });
    assert.match(unknown.json().problems[0].message, /did you mean axes/);
    const body = { ...ESTIMATORS, axes: { cluster: ['nowhere'], estimator: [{ name: 'grpo' }] } };
    const nowhere = await call('POST', '/v1/sweeps', { body });
    assert.equal(nowhere.statusCode, 400);
    assert.match(nowhere.json().problems[0].message, /in child 0, \/cluster: is not the name of a cluster/);
  });

  test('a sweep of 10,000 children is accepted, and of 10,001 refused', async () => {
    const most = {
      ...sweepRequest(1),
      method: 'random',
      count: 10_000,
      axes: { '/replay/batches': { min: 0, max: 99, integer: true } },
    };
    const answer = await call('POST', '/v1/sweeps', { body: most });
    assert.deepEqual([answer.statusCode, answer.json().count], [202, 10_000]);
    assert.equal((await call('POST', '/v1/sweeps', { body: { ...most, count: 10_001 } })).statusCode, 400);
  });
});

describe('POST /v1/sweeps/preview', () => {
  test('a preview returns the number of children and the first ten, and stores nothing', async () => {
    const before = await store.sweeps.list({ limit: 100 });
    const answer = await call('POST', '/v1/sweeps/preview', { body: sweepRequest(25) });
    assert.equal(answer.statusCode, 200, answer.body);
    const { count, children } = answer.json();
    assert.deepEqual([count, children.length], [25, 10]);
    assert.deepEqual(children[3], {
      index: 3,
      name: 'a sweep: batches=3',
      values: { '/replay/batches': 3 },
      spec: { engine: 'replay', project: 'swept', replay: { batches: 3 }, name: 'a sweep: batches=3' },
    });
    assert.deepEqual(await store.sweeps.list({ limit: 100 }), before);
  });

  test('a preview refuses a request that a submission refuses', async () => {
    const answer = await call('POST', '/v1/sweeps/preview', {
      body: { ...ESTIMATORS, method: 'list', count: 2 },
    });
    assert.equal(answer.statusCode, 400);
    assert.equal(answer.json().problems[0].field, '/count');
  });
});

test('a sweep or an experiment that needs more than any node has is accepted with a warning', async () => {
  await store.clusters.put(
    clusterRecord({
      name: 'small',
      address: 'h:1',
      nodes: [{ id: 'n', cpusTotal: 1, gpusTotal: 0, cpusUsed: 0, gpusUsed: 0 }],
    }),
  );
  const body = { ...ESTIMATORS, spec: { engine: 'local', resources: { cpus: 2 } } };
  const accepted = (await call('POST', '/v1/sweeps', { body })).json();
  const previewed = (await call('POST', '/v1/sweeps/preview', { body })).json();
  assert.match(accepted.warnings.join(), /^4 children can never fit: needs 2 CPUs on one node/);
  assert.deepEqual(previewed.warnings, accepted.warnings);
  const spec = { ...body.spec, name: 'one', estimator: { name: 'grpo' } };
  const one = (await call('POST', '/v1/experiments', { body: spec })).json();
  assert.match(one.warnings.join(), /^The experiment can never fit: needs 2 CPUs on one node/);
  const small = { ...spec, resources: { cpus: 1 } };
  assert.deepEqual((await call('POST', '/v1/experiments', { body: small })).json().warnings, []);
});
