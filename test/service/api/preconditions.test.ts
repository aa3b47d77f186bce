import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newExperimentId } from '../../../src/core/ids.ts';
import { SCOPES } from '../../../src/core/scopes.ts';
import { makeKey, makeProjects } from '../../support/access.ts';
import { everyRoute, type Route } from '../../support/every-route.ts';
import { appFor } from '../../support/http-app.ts';
import { running, storeFor } from '../../support/store.ts';

// Every operation on a resource, with every scope and with If-Match: a resource of another project, and a key
// beside its record in the store, get the same answer as an unknown resource.

const { store } = await storeFor({ after });
await makeProjects(store, 'mine', 'theirs');
const { app } = await appFor({ after }, { store });
const routes = everyRoute(app).filter(({ path }) => path.includes('{id}'));
const { experiment } = await running(store, { input: { project: 'theirs' } });

async function answerTo(route: Route, token: string, id: string, ifMatch: string): Promise<string> {
  const body = route.operationId === 'changeExperiment' ? { priority: 1 } : undefined;
  const { statusCode, body: text } = await app.inject({
    method: route.method as 'GET',
    url: route.url({ id, attempt: '1', batch: '1' }),
    headers: {
      host: 'echelon.test',
      authorization: `Bearer ${token}`,
      'if-match': ifMatch,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { payload: JSON.stringify(body) }),
  });
  assert.ok(statusCode < 500, `${route.operationId} ${id}: ${statusCode} ${text}`);
  return `${statusCode} ${text.replaceAll(id.slice(0, 40), 'ID')}`;
}

for (const scope of SCOPES) {
  test(`If-Match tells a key with the scope ${scope} nothing of another project`, async () => {
    const { token } = await makeKey(store, { project: 'mine', scopes: [scope] });
    const unknown = newExperimentId();
    for (const route of routes)
      for (const ifMatch of ['*', '"a tag"', 'no tag']) {
        const none = await answerTo(route, token, unknown, ifMatch);
        assert.equal(await answerTo(route, token, experiment, ifMatch), none, route.operationId);
        // Other keys of the store begin with the id of the experiment.
        const beside = await answerTo(route, token, `${experiment}:events`, ifMatch);
        assert.equal(beside.slice(0, 3), none.slice(0, 3), route.operationId);
      }
  });
}
