import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ActorHandle } from 'ray-client-ts/actor';
import type { RayConnection } from 'ray-client-ts/connection';
import { RayActorDiedError, RayPythonError } from 'ray-client-ts/errors';
import {
  ACTOR,
  connectionOf,
  endActor,
  findActor,
  startActor,
} from '../../../../../src/dispatch/clusters/setup/actor.ts';
import { SetupError } from '../../../../../src/dispatch/clusters/setup/problems.ts';

// What a Ray makes of it is tested on one: test/system/clusters.test.ts.
const PACKAGE = new URL('../../../../../deploy/ray-worker', import.meta.url).pathname;
const ANSWER = { address: '10.0.0.1:7000', version: '1.0.0' };
const bytes = () => Buffer.from(JSON.stringify(ANSWER));
const details = (pythonType: string) => ({
  pythonType,
  pythonModule: 'builtins',
  message: pythonType,
  pythonTraceback: '',
});
const python = (pythonType: string) => new RayPythonError(details(pythonType));
const actorThat = (call: () => unknown) =>
  ({ call: async () => call(), kill: async () => {} }) as unknown as ActorHandle;
const rayThat = (parts: object) => parts as unknown as RayConnection;
const raise = (error: Error) => () => {
  throw error;
};

test('the actor has the name under which it is started by hand', () => {
  const actor = readFileSync(`${PACKAGE}/echelon_rayworker/actor.py`, 'utf8');
  assert.ok(
    actor.includes(`ACTOR_NAME = "${ACTOR.name}"`) && actor.includes(`NAMESPACE = "${ACTOR.namespace}"`),
  );
});

test('an unknown actor is undefined; other failures are thrown', async () => {
  const looking = (error: Error) => findActor(rayThat({ getActor: async () => raise(error)() }));
  assert.equal(await looking(python('ValueError')), undefined);
  await assert.rejects(looking(python('KeyError')), /KeyError/);
});

test('the actor reports its connection; a dead actor and an old one are distinguished', async () => {
  assert.deepEqual(await connectionOf(actorThat(bytes)), ANSWER);
  assert.equal(
    await connectionOf(actorThat(raise(new RayActorDiedError(details('ActorDiedError'))))),
    'dead',
  );
  await assert.rejects(connectionOf(actorThat(raise(python('AttributeError')))), SetupError);
  await assert.rejects(connectionOf(actorThat(() => 'text')), /sent an answer of an unknown form/);
});

test('the actor is started on its node with the package, and outlives the session', async () => {
  const made: unknown[] = [];
  const ray = rayThat({
    createActor: async (...all: unknown[]) => {
      made.push(...all);
      return actorThat(bytes);
    },
  });
  const options = { stateDir: '/s/echelon/a', sharedRoot: '/s', host: '10.0.0.1', port: 0, reachedAs: '' };
  assert.deepEqual(await startActor(ray, { zip: new Uint8Array([1]) }, 'n1', options), ANSWER);
  assert.deepEqual(made[1], [
    {
      state_dir: '/s/echelon/a',
      shared_root: '/s',
      host: '10.0.0.1',
      port: 0,
      encrypt: true,
      reached_as: '',
    },
  ]);
  const { lifetime, schedulingStrategy, getIfExists, name } = made[2] as Record<string, unknown>;
  assert.deepEqual(
    { lifetime, schedulingStrategy, getIfExists, name },
    { lifetime: 'detached', schedulingStrategy: { nodeId: 'n1' }, getIfExists: true, name: ACTOR.name },
  );
});

test('ending the actor waits until its name is free', async () => {
  let looks = 0;
  const getActor = async () => {
    looks += 1;
    return looks < 3 ? actorThat(bytes) : raise(python('ValueError'))();
  };
  await endActor(rayThat({ getActor }), actorThat(bytes));
  assert.equal(looks, 3);
});
