import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newCommandId, newExperimentId, newSweepId } from '../../../src/core/ids.ts';
import { SCOPES } from '../../../src/core/scopes.ts';
import { makeChild } from '../../../src/plan/sweep.ts';
import { makeKey, makeProjects } from '../../support/access.ts';
import { everyRoute, type Route } from '../../support/every-route.ts';
import { appFor, REPLAY } from '../../support/http-app.ts';
import { storeThrough } from '../../support/made-up-store.ts';
import { clusterRecord, running, storeFor, submitInput } from '../../support/store.ts';
import { sweepInput, sweepRequest } from '../../support/sweep.ts';

/*
 * Every route of the OpenAPI document, future ones included: without a token, without its scope, and for resources of
 * another project. A new route that does not check its caller fails here.
 */

const { store, redis } = await storeFor({ after });
await makeProjects(store, 'mine', 'theirs');
const asked: string[] = [];
const spied = storeThrough(store, (path, call) => {
  const answer = call();
  // A read whose result is discarded takes time too.
  if (answer instanceof Promise)
    answer.then(
      (value) => asked.push(`${path} ${sizeOf(value)}`),
      () => {},
    );
  return answer;
});
function sizeOf(value: unknown): 'small' | 'large' {
  return (JSON.stringify(value) ?? '').length > 200 ? 'large' : 'small';
}
const { app, call } = await appFor({ after }, { store: spied, limits: { failedSignIns: 1_000_000 } });
const routes = everyRoute(app);
const PUBLIC = ['health', 'readiness', 'signIn'];
/** Routes that refuse project-bound keys with any scope: their answers belong to no project. */
const UNBOUND_ONLY = ['streamAllEvents'];

const ALL_SCOPES = [...SCOPES];
const BOUND_SCOPES = ALL_SCOPES.filter((scope) => scope !== 'admin');
const mine = await makeKey(store, { project: 'mine', scopes: BOUND_SCOPES });

/** Bodies that routes check before they read the resource in their path. */
const BODIES: Record<string, unknown> = {
  changeExperiment: { priority: 1 },
  appendRunEvents: { token: 'wrong', events: [] },
};

async function ask(route: Route, token: string | null, values: Record<string, string>) {
  const { method } = route;
  // Most routes take no body, so a body is sent only to the routes in BODIES.
  const body = route.operationId in BODIES ? { body: BODIES[route.operationId] } : {};
  return app.inject({
    method: method as 'GET',
    url: route.url(values),
    headers: {
      host: 'echelon.test',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...('body' in body ? { 'content-type': 'application/json' } : {}),
    },
    ...('body' in body ? { payload: JSON.stringify(body.body) } : {}),
  });
}

async function endedExperiment(project: string): Promise<string> {
  const lease = await running(store, { input: { project, name: 'SECRET-NAME' } });
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  return lease.experiment;
}

async function sweepOf(project: string): Promise<string> {
  const request = sweepRequest(2);
  const { id } = await store.sweeps.create(sweepInput(request, { project, name: 'SECRET-NAME' }));
  await store.sweeps.expand(id, makeChild);
  return id;
}

test('the OpenAPI document states the scope of every route except the public ones', () => {
  assert.ok(routes.length > 30);
  assert.deepEqual(
    routes.filter(({ scope }) => scope === null).map(({ operationId }) => operationId),
    PUBLIC,
  );
  const changing = routes.filter(({ method, scope }) => method !== 'GET' && scope === 'read');
  // These store nothing, or begin or end a session of the caller. Any other write needs more than `read`.
  const harmless = [
    'signOut',
    'createLoginLink',
    'planExperiment',
    'whatIf',
    'previewSweep',
    'previewComparison',
    'verifyFile',
  ];
  assert.deepEqual(
    changing.map(({ operationId }) => operationId).filter((id) => !harmless.includes(id)),
    [],
  );
});

test('every route except the public ones gets the same 401 without a token', async () => {
  const bodies = new Set<string>();
  const open: string[] = [];
  for (const route of routes) {
    const { statusCode, body } = await ask(route, null, {});
    if (statusCode === 401) bodies.add(body);
    else open.push(route.operationId);
  }
  assert.deepEqual(open, PUBLIC);
  assert.equal(bodies.size, 1);
});

describe('routes without their scope', () => {
  for (const scope of SCOPES) {
    test(`a route gets 403 without its scope ${scope}`, async () => {
      const { token } = await makeKey(store, { scopes: ALL_SCOPES.filter((one) => one !== scope) });
      for (const route of routes.filter((one) => one.scope === scope)) {
        const { statusCode, body } = await ask(route, token, {});
        const place = `${route.method} ${route.path}: ${body}`;
        assert.equal(statusCode, 403, place);
        assert.match(body, new RegExp(`needs the scope ${scope}\\.`), place);
      }
    });
  }

  test('a project-bound key with the scope admin gets 403 for every admin route', async () => {
    const { token } = await makeKey(store, { project: 'mine', scopes: ALL_SCOPES });
    for (const route of routes.filter(({ scope }) => scope === 'admin')) {
      assert.equal((await ask(route, token, {})).statusCode, 403, route.path);
    }
  });
});

describe('a viewer: a key of a project with the scope read alone', () => {
  test('a viewer gets every GET of its project, 403 for every write, and changes nothing', async () => {
    await makeProjects(store, 'seen');
    const viewer = await makeKey(store, { project: 'seen', scopes: ['read'] });
    const id = await endedExperiment('seen');
    const before = await recorded();
    // Its stream does not end; `feeds.test.ts` reads it.
    const asked = routes.filter(
      ({ scope, operationId }) => scope !== null && operationId !== 'streamProjectEvents',
    );
    for (const route of asked) {
      const place = `${route.method} ${route.path}`;
      const { statusCode, body } = await ask(route, viewer.token, { id, experiments: id, name: 'seen' });
      const refused = route.scope !== 'read' || UNBOUND_ONLY.includes(route.operationId);
      assert.equal(statusCode === 403, refused, `${place}: ${statusCode} ${body}`);
    }
    assert.deepEqual(await recorded(), before);
  });
});

/** Every value of the store, except the audit log and what notes that a key was used. */
async function recorded(): Promise<Record<string, string>> {
  const names = (await redis.keys('*')).filter(
    (name) => !/:(audit|api-keys:used|signed-out|access-version)/.test(name),
  );
  const values = await Promise.all(names.sort().map((name) => redis.dumpBuffer(name)));
  return Object.fromEntries(names.map((name, at) => [name, values[at]!.toString('base64')]));
}

/** The route's answers for a resource of another project and for an unknown one, without the id itself. */
async function compared(route: Route, foreign: string, unknown: string) {
  const one = async (id: string) => {
    asked.length = 0;
    const response = await ask(route, mine.token, {
      id,
      name: id,
      experiments: id,
      attempt: '1',
      batch: '1',
    });
    // Every answer has its own time and remaining rate limit.
    const headers = Object.entries(response.headers).filter(
      ([name]) => !/^(?:date|x-ratelimit-.*)$/.test(name),
    );
    const calls = asked.filter((name) => !/^(?:access\.(?:version|keys|keyUsed)|audit\.record) /.test(name));
    const text = response.body.replaceAll(id, 'ID');
    return { status: response.statusCode, text, headers: Object.fromEntries(headers), calls };
  };
  return [await one(foreign), await one(unknown)] as const;
}

describe('a key of one project and resources of another', () => {
  const below = (prefix: string) => routes.filter(({ path }) => path.startsWith(prefix));

  test('a key of one project gets 404 on every route of an experiment of another project', async () => {
    const found = [...below('/v1/experiments/{'), ...below('/v1/runs/{')];
    assert.ok(found.length > 8);
    for (const route of found) {
      const place = `${route.method} ${route.path}`;
      const foreign = await endedExperiment('theirs');
      const [theirs, none] = await compared(route, foreign, newExperimentId());
      assert.equal(theirs.status, 404, `${place}: ${theirs.text} (does it need a body? see BODIES)`);
      // The same words, headers and store calls: so the same time.
      assert.deepEqual(theirs, none, place);
      assert.equal((await store.experiments.get(foreign))?.state, 'succeeded', place);
      // The same request by its owner finds it: the 404 above was about the project.
      const owner = await makeKey(store, { project: 'theirs', scopes: BOUND_SCOPES });
      const own = await ask(route, owner.token, { id: foreign, attempt: '1', batch: '1' });
      assert.ok(!own.body.includes('There is no experiment'), `${place}: ${own.body}`);
    }
  });

  test('a key of one project gets 404 on every route of a sweep or comparison of another project', async () => {
    const found = [...below('/v1/sweeps/{'), ...below('/v1/comparisons/{')];
    assert.ok(found.length >= 6);
    for (const route of found) {
      const place = `${route.method} ${route.path}`;
      const foreign = await sweepOf('theirs');
      const [theirs, none] = await compared(route, foreign, newSweepId());
      assert.equal(theirs.status, 404, `${place}: ${theirs.text}`);
      assert.deepEqual(theirs, none, place);
      assert.equal((await store.sweeps.get(foreign))?.state, 'running', place);
    }
  });

  test('a key of one project gets 404 for a query that names an experiment of another project', async () => {
    const naming = routes.filter(
      ({ method, queries }) => method === 'GET' && queries.includes('experiments'),
    );
    assert.deepEqual(
      naming.map(({ operationId }) => operationId),
      ['compareMetrics'],
    );
    for (const route of naming) {
      const [theirs, none] = await compared(route, await endedExperiment('theirs'), newExperimentId());
      assert.equal(theirs.status, 404, theirs.text);
      assert.deepEqual(theirs, none, route.path);
    }
  });

  test('a key of one project gets 404 for a preflight of another project', async () => {
    const found = below('/v1/preflight/{');
    assert.equal(found.length, 1);
    for (const route of found) {
      const id = newCommandId();
      const input = { id, cluster: 'local', kind: 'preflight', request: {}, secret: null } as const;
      await store.commands.create({ ...input, project: 'theirs' });
      const [theirs, none] = await compared(route, id, newCommandId());
      assert.equal(theirs.status, 404, theirs.text);
      assert.deepEqual(theirs, none, route.path);
    }
  });

  test('every resource in the path of a route without the scope admin is tested here or belongs to no project', () => {
    // `tried` is tested here; `common` is the same for all callers. A new resource in a path belongs into one of the two.
    const tried = ['experiments', 'runs', 'sweeps', 'comparisons', 'projects', 'preflight'];
    const common = ['clusters', 'presets', 'recipes'];
    const named = routes
      .filter(({ path, scope }) => path.includes('{') && scope !== 'admin')
      .map(({ path }) => path.split('/')[2]!);
    assert.deepEqual(
      [...new Set(named)].filter((name) => ![...tried, ...common].includes(name)),
      [],
    );
  });

  test('a key of one project gets the same answer for another project as for an unknown one', async () => {
    for (const route of below('/v1/projects/{')) {
      const [theirs, none] = await compared(route, 'theirs', 'absent');
      assert.ok([403, 404].includes(theirs.status), route.path);
      assert.deepEqual(theirs, none, route.path);
    }
  });

  test('a key of one project finds nothing of another project in any list', async () => {
    const experiment = await endedExperiment('theirs');
    const { id: waiting } = await store.experiments.submit(
      submitInput({ project: 'theirs', name: 'SECRET-NAME' }),
    );
    const sweep = await sweepOf('theirs');
    await store.clusters.put(clusterRecord({ address: 'h:1' }));
    const { experiment: held } = await running(store, { input: { project: 'theirs', name: 'SECRET-NAME' } });
    const lists = routes.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
    let seen = 0;
    for (const route of lists) {
      if (UNBOUND_ONLY.includes(route.operationId)) {
        assert.equal((await ask(route, mine.token, {})).statusCode, 403, route.path);
        continue;
      }
      const { body, statusCode } = await ask(route, mine.token, {});
      for (const leak of [experiment, waiting, sweep, held, 'SECRET-NAME', 'theirs']) {
        assert.ok(!body.includes(leak), `${route.path} shows ${leak}`);
      }
      if (statusCode === 200) seen += 1;
    }
    assert.ok(seen >= 5);
    // The wait reason of an own experiment can name experiments of other projects.
    const { id: own } = await store.experiments.submit(submitInput({ project: 'mine' }));
    const words = { reason: `waits for ${waiting}`, unknown: `${held} is in the way`, estimate: null };
    await store.queue.note(new Map([[own, { ...words, rank: 2 }]]));
    for (const url of ['/v1/queues', `/v1/experiments/${own}`]) {
      const { body } = await call('GET', url, { token: mine.token });
      assert.match(body, /waits for an experiment of another project/);
      assert.ok(!body.includes(waiting) && !body.includes(held), url);
    }
    await store.experiments.cancel(own, '');
    const project = (path: string) => app.inject({ url: path, headers: headersOf(mine.token) });
    for (const list of ['experiments', 'sweeps']) {
      const [theirs, none] = [
        await project(`/v1/${list}?project=theirs`),
        await project(`/v1/${list}?project=absent`),
      ];
      assert.deepEqual(theirs.json().items, []);
      assert.equal(theirs.body, none.body);
    }
  });

  test('a key of one project sees its queue position among the experiments of all projects', async () => {
    const { id } = await store.experiments.submit(submitInput({ project: 'mine', priority: -100 }));
    const { body } = await call('GET', '/v1/queues', { token: mine.token });
    const queue = JSON.parse(body) as { length: number; items: { position: number; experiment: string }[] };
    const { rank, length } = await store.queue.position(id);
    assert.deepEqual(
      queue.items.map(({ position, experiment }) => [position, experiment]),
      [[rank, id]],
    );
    assert.equal(queue.length, length);
    assert.ok(rank! > 1);
  });

  test('a key of one project cannot submit to another project, and submits to its own by default', async () => {
    const submit = (project: string) =>
      call('POST', '/v1/experiments', { token: mine.token, body: { ...REPLAY, project } });
    const [theirs, none] = [await submit('theirs'), await submit('absent')];
    assert.equal(theirs.statusCode, 400);
    assert.equal(theirs.body, none.body);
    const sweep = (project: string) => {
      const request = sweepRequest(1);
      const body = { ...request, spec: { ...request.spec, project } };
      return call('POST', '/v1/sweeps', { token: mine.token, body });
    };
    const [first, second] = [await sweep('theirs'), await sweep('absent')];
    assert.equal(first.statusCode, 400);
    assert.equal(first.body, second.body);
    const made = await call('POST', '/v1/experiments', { token: mine.token, body: REPLAY });
    assert.equal((await store.experiments.get(made.json().id))?.project, 'mine');
    const { spec: _swept, ...request } = sweepRequest(1);
    const body = { ...request, spec: { engine: 'replay' } };
    const own = await call('POST', '/v1/sweeps', { token: mine.token, body });
    const record = await store.sweeps.get(own.json().id);
    assert.equal(record?.project, 'mine');
    const { made: children } = await store.sweeps.expand(record.id, makeChild);
    const child = (await store.experiments.get(children[0]!.experiment))!;
    assert.equal(child.project, 'mine');
    assert.equal((child.resolved as { project: string }).project, 'mine');
  });
});

function headersOf(token: string) {
  return { host: 'echelon.test', authorization: `Bearer ${token}` };
}
