import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { createCheck, STRICT_AJV } from '../../../src/schemas/check.ts';
import { AddCluster, COMMAND_STATES, isCommandOver } from '../../../src/schemas/clusters.ts';
import { ApiKeyInput, ApiKeyRotation, isLive } from '../../../src/schemas/key.ts';
import { strict } from '../../../src/schemas/objects.ts';
import { SubmitPreset } from '../../../src/schemas/preset.ts';
import { newProject, Project, ProjectChange, ProjectInput } from '../../../src/schemas/project.ts';
import { RunEvents, RunSpec } from '../../../src/schemas/runs.ts';
import { SecretProjects } from '../../../src/schemas/secrets.ts';
import { Variables } from '../../../src/schemas/spec-parts.ts';
import { SweepRequest } from '../../../src/schemas/sweep.ts';

const check = new Ajv(STRICT_AJV).compile(AddCluster);
const LEAST = { name: 'a', address: 'ray://h:10001', sharedRoot: '/shared' };

test('a new cluster with an unknown field or a bad value is refused', () => {
  const all = {
    token: 't',
    node: 'n',
    port: 7400,
    advertise: 'lb.example:30740',
    backfill: true,
    tls: { ca: 'x', cert: 'x', key: 'x', serverName: 'h' },
  };
  for (const good of [
    LEAST,
    { ...LEAST, ...all },
    { ...LEAST, sharedRoot: '~/echelon' },
    { ...LEAST, sharedRoot: '~' },
    { ...LEAST, address: 'ray://[::1]' },
  ])
    assert.ok(check(good), JSON.stringify(good));
  for (const bad of [
    {},
    { ...LEAST, name: 'A' },
    { ...LEAST, address: 'h:10001' },
    { ...LEAST, address: 'ray://h:1/x' },
    { ...LEAST, address: 'ray://user@h:1' },
    { ...LEAST, sharedRoot: 'relative' },
    { ...LEAST, sharedRoot: '~other' },
    { ...LEAST, token: '' },
    { ...LEAST, token: 'two words' },
    { ...LEAST, port: 0 },
    { ...LEAST, advertise: 'nohost' },
    { ...LEAST, extra: 1 },
    { ...LEAST, tls: { other: 'x' } },
  ])
    assert.ok(!check(bad), JSON.stringify(bad));
});

test('a command is over if it succeeded or failed', () => {
  assert.deepEqual(
    COMMAND_STATES.filter((state) => isCommandOver({ state })),
    ['succeeded', 'failed'],
  );
});

test('a list of secrets has names of secrets, each with projects or *', () => {
  const isValid = (list: unknown) => Value.Check(SecretProjects, list);
  for (const list of [{}, { 'hf-read': [] }, { wandb: ['vision', '*'] }]) assert.ok(isValid(list));
  for (const list of [{ '../x': ['vision'] }, { x: 'vision' }, { x: ['Vision'] }, { x: ['a', 'a'] }])
    assert.ok(!isValid(list), JSON.stringify(list));
});

const ajv = new Ajv(STRICT_AJV);

test('a key needs at least one scope, and each scope once', () => {
  const fits = (scopes: unknown) => ajv.validate(ApiKeyInput, { name: 'a', scopes });
  assert.ok(fits(['read', 'submit']));
  for (const bad of [[], ['read', 'read'], ['write'], 'read', null]) assert.ok(!fits(bad), String(bad));
  assert.ok(!ajv.validate(ApiKeyInput, { name: 'a', scopes: ['read'], expiresInSeconds: 0 }));
  assert.ok(!ajv.validate(ApiKeyRotation, { overlapSeconds: -1 }));
});

test('a key is live until it is revoked or expires', () => {
  assert.equal(isLive({ revokedAt: null, expiresAt: null }, 5), true);
  assert.equal(isLive({ revokedAt: null, expiresAt: 6 }, 5), true);
  assert.equal(isLive({ revokedAt: null, expiresAt: 5 }, 5), false);
  assert.equal(isLive({ revokedAt: 9, expiresAt: null }, 5), false);
});

test('a preset submission refuses unknown fields and bad paths', () => {
  assert.ok(Value.Check(SubmitPreset, {}));
  assert.ok(Value.Check(SubmitPreset, { label: 'mine', home: '/opt/verl-agent', runs: ['HGPO K=4'] }));
  for (const wrong of [{ seed: 1 }, { home: 'relative' }, { home: '/a/../b' }, { runs: [] }]) {
    assert.ok(!Value.Check(SubmitPreset, wrong), JSON.stringify(wrong));
  }
});

test('a run needs a name and knows no other fields', () => {
  const check = createCheck(RunSpec);
  assert.deepEqual(check({ name: 'r' }), []);
  assert.deepEqual(
    check({ cluster: 'local', silenceSeconds: 1 })
      .map(({ field }) => field)
      .toSorted(),
    ['/cluster', '/name', '/silenceSeconds'],
  );
});

test('events are those that an attempt reports', () => {
  const check = createCheck(RunEvents);
  const body = (event: object) => ({ token: 't', events: [{ sequence: 1, at: 1, event }] });
  assert.deepEqual(check(body({ type: 'checkpoint', step: 1, path: '/x' })), []);
  assert.notDeepEqual(check(body({ type: 'checkpoint', step: -1, path: '/x' })), []);
  assert.notDeepEqual(check(body({ type: 'state', from: null, to: 'failed', attempt: 1, reason: '' })), []);
});

test('a strict object accepts the properties it names and no others', () => {
  const schema = Type.Object({ a: Type.Optional(Type.Number()) }, strict);
  assert.deepEqual(
    [{}, { a: 1 }, { b: 1 }].map((value) => Value.Check(schema, value)),
    [true, true, false],
  );
});

const isValid = new Ajv(STRICT_AJV).compile(Variables);

test('variables are names with texts, 64 at most', () => {
  assert.ok(isValid({ HF_HOME: '/shared/hf', _x1: '', a: 'ä = "b"', KEY: 'one\n\ttwo\r\n' }));
  for (const bad of [
    { '1A': 'x' },
    { 'A-B': 'x' },
    { '': 'x' },
    { A: '\u001b[1m' },
    { A: 'x\u0000' },
    { A: 1 },
  ])
    assert.ok(!isValid(bad), JSON.stringify(bad));
  assert.ok(!isValid({ A: 'x'.repeat(4097) }));
  assert.ok(!isValid(Object.fromEntries(Array.from({ length: 65 }, (_one, at) => [`A${at}`, 'x']))));
});

const validate = new Ajv(STRICT_AJV).compile(SweepRequest);
const GOOD = { name: 'n', method: 'grid', spec: { engine: 'local' }, axes: { 'training.seed': [1, 2] } };

test('a valid sweep request of every method is accepted', () => {
  for (const request of [
    GOOD,
    { ...GOOD, method: 'list' },
    {
      ...GOOD,
      method: 'random',
      count: 3,
      seed: 7,
      axes: { a: { min: 0, max: 1, scale: 'log', integer: true } },
    },
  ])
    assert.ok(validate(request), JSON.stringify(validate.errors));
});

test('a sweep request with a missing, unknown or out-of-range value is refused', () => {
  for (const request of [
    { ...GOOD, name: '' },
    { ...GOOD, method: 'bayes' },
    { ...GOOD, spec: [] },
    { ...GOOD, axes: {} },
    { ...GOOD, axes: { a: [] } },
    { ...GOOD, axes: { a: { min: 0 } } },
    { ...GOOD, axes: { a: { min: 0, max: 1, step: 1 } } },
    { ...GOOD, count: 10_001 },
    { ...GOOD, seeds: 1 },
  ])
    assert.ok(!validate(request), JSON.stringify(request));
});

test('a new project has the defaults and fits its schema', () => {
  const project = newProject({ name: 'a-team' }, 5);
  assert.deepEqual(project, {
    version: 1,
    name: 'a-team',
    weight: 1,
    gpuQuota: null,
    urgentGpuQuota: 0,
    createdAt: 5,
    storeQuotaBytes: null,
    retention: null,
  });
  assert.ok(ajv.validate(Project, project));
});

test('a project change that is empty, unknown or out of bounds is refused', () => {
  for (const good of [{ weight: 0.5 }, { gpuQuota: 0 }, { gpuQuota: null }, { storeQuotaBytes: 5 }])
    assert.ok(ajv.validate(ProjectChange, good), JSON.stringify(good));
  for (const bad of [
    {},
    { weight: 0 },
    { gpuQuota: -1 },
    { gpuQuota: 1.5 },
    { name: 'b' },
    { quota: 1 },
    { storeBytes: 1 },
  ])
    assert.ok(!ajv.validate(ProjectChange, bad), JSON.stringify(bad));
  assert.ok(!ajv.validate(ProjectInput, { name: 'A b' }));
});
