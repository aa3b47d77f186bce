import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newProject } from '../../../../../src/schemas/project.ts';
import { makeKey } from '../../../../support/access.ts';
import { appFor, REPLAY } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store });
const make = (body: unknown) => call('POST', '/v1/projects', { body });

test('a project beyond the limit gets 409 limit-reached', async () => {
  const list = async () => Array.from({ length: 1000 }, (_, at) => newProject({ name: `p${at}` }, 1));
  const full = await appFor(
    { after },
    {
      store: { ...store, projects: { ...store.projects, list } },
    },
  );
  const answer = await full.call('POST', '/v1/projects', { body: { name: 'one-more' } });
  assert.deepEqual([answer.statusCode, answer.json().code], [409, 'limit-reached']);
});

describe('project routes', () => {
  test('a project can be created, listed, changed and removed', async () => {
    const made = await make({ name: 'team', weight: 2 });
    assert.equal(made.statusCode, 201);
    assert.equal(made.headers.location, '/v1/projects/team');
    assert.equal((await make({ name: 'team' })).json().code, 'project-exists');
    const list = (await call('GET', '/v1/projects')).json();
    assert.deepEqual(
      list.items.map(({ name, weight }: { name: string; weight: number }) => [name, weight]),
      [
        ['default', 1],
        ['team', 2],
      ],
    );
    const changed = await call('PATCH', '/v1/projects/team', { body: { gpuQuota: 4 } });
    assert.deepEqual([changed.json().weight, changed.json().gpuQuota], [2, 4]);
    assert.equal(
      (await call('PATCH', '/v1/projects/team', { body: { gpuQuota: null } })).json().gpuQuota,
      null,
    );
    assert.equal((await call('DELETE', '/v1/projects/team')).statusCode, 204);
    assert.equal((await call('GET', '/v1/projects/team')).json().code, 'project-not-found');
    assert.equal((await call('DELETE', '/v1/projects/team')).json().code, 'project-not-found');
  });

  test('a project with a bad name, weight or quota is refused with 400', async () => {
    for (const body of [{ name: 'A' }, { name: 'a', weight: 0 }, { name: 'a', quota: 1 }, {}]) {
      assert.equal((await make(body)).statusCode, 400, JSON.stringify(body));
    }
    const nothing = await call('PATCH', '/v1/projects/default', { body: {} });
    assert.deepEqual([nothing.statusCode, nothing.json().problems[0].field], [400, '']);
    assert.match(nothing.json().problems[0].message, /at least 1 key, but 0 came/);
    const unknown = await call('PATCH', '/v1/projects/nowhere', { body: { weight: 1 } });
    assert.equal(unknown.json().code, 'project-not-found');
  });

  test('a project with experiments, and the default project, cannot be removed', async () => {
    await make({ name: 'used' });
    await call('POST', '/v1/experiments', { body: { ...REPLAY, project: 'used' } });
    const answer = await call('DELETE', '/v1/projects/used');
    assert.equal(answer.json().code, 'project-busy');
    assert.match(answer.json().detail, /has experiments/);
    assert.match((await call('DELETE', '/v1/projects/default')).json().detail, /always there/);
  });

  test('a project-bound key sees its own project, and another project looks like an unknown one', async () => {
    for (const name of ['mine', 'theirs']) await make({ name });
    const { token } = await makeKey(store, { project: 'mine', scopes: ['read'] });
    const list = (await call('GET', '/v1/projects', { token })).json();
    assert.deepEqual(
      list.items.map(({ name }: { name: string }) => name),
      ['mine'],
    );
    assert.equal((await call('GET', '/v1/projects/mine', { token })).statusCode, 200);
    const [theirs, none] = [
      await call('GET', '/v1/projects/theirs', { token }),
      await call('GET', '/v1/projects/absent', { token }),
    ];
    assert.equal(theirs.body.replace('theirs', 'absent'), none.body);
  });
});
