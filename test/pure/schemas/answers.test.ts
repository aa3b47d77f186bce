import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { EchelonError, ERRORS } from '../../../src/core/errors.ts';
import { EVENT_TYPES, type ExperimentEvent } from '../../../src/core/events.ts';
import { STATES } from '../../../src/core/states.ts';
import { toProblem } from '../../../src/http/server/to-problem.ts';
import { nullable, oneOf } from '../../../src/schemas/answer-parts.ts';
import * as api from '../../../src/schemas/api.ts';
import { AuditEntry } from '../../../src/schemas/audit.ts';
import { STRICT_AJV } from '../../../src/schemas/check.ts';
import { EventSchema } from '../../../src/schemas/events.ts';
import { Experiment, RECORD_VERSION, VerificationCounts } from '../../../src/schemas/experiment.ts';
import { Artifact, BatchReportView } from '../../../src/schemas/records.ts';
import { FeedMessage, MetricPoints } from '../../../src/schemas/streams.ts';

test('every shared schema has a unique id and is closed', () => {
  const schemas = Object.entries(api) as [string, { $id?: string; additionalProperties?: boolean }][];
  assert.equal(new Set(schemas.map(([, schema]) => schema.$id)).size, schemas.length);
  for (const [name, schema] of schemas) assert.equal(schema.additionalProperties, false, name);
});

test('the Problem schema accepts the document of every registered error', () => {
  const validate = new Ajv().compile(api.Problem);
  for (const code of Object.keys(ERRORS) as (keyof typeof ERRORS)[]) {
    const error = new EchelonError(code, 'a sentence', { problems: [{ field: '/a', message: 'is bad' }] });
    assert.ok(validate(toProblem(error)), code);
  }
});

test('the queue has a count of every state', () => {
  assert.deepEqual(Object.keys((api.QueueView.properties.counts as { properties: object }).properties), [
    ...STATES,
  ]);
});

const json = (schema: object): unknown => JSON.parse(JSON.stringify(schema));

test('a nullable value of one type has a list of types', () => {
  assert.deepEqual(json(nullable(Type.Integer({ minimum: 0 }), { description: 'a' })), {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'a',
  });
  assert.deepEqual(json(nullable(Type.Enum(['a'], { type: 'string', description: 'b' }))), {
    type: ['string', 'null'],
    enum: ['a', null],
    description: 'b',
  });
  assert.deepEqual(json(nullable(Type.Object({}))), { type: ['object', 'null'], properties: {} });
});

test('a nullable value without one type of its own is a choice', () => {
  for (const schema of [
    Type.Unsafe<unknown>({ $ref: '#/x' }),
    Type.Union([Type.String(), Type.Number()]),
    Type.Literal('a'),
  ]) {
    assert.deepEqual(json(nullable(schema)), { anyOf: [json(schema), { type: 'null' }] });
  }
});

test('a choice of texts is one enumeration', () => {
  assert.deepEqual(json(oneOf(['a', 'b', 'c'], { description: 'd' })), {
    type: 'string',
    enum: ['a', 'b', 'c'],
    description: 'd',
  });
});

test('the schema of an audit entry refuses a body', () => {
  const entry = {
    id: '1-1',
    at: 1,
    caller: null,
    name: null,
    project: null,
    action: 'a',
    target: null,
    status: 401,
    outcome: 'refused',
    code: 'unauthenticated',
    requestId: 'r',
    address: '::1',
    note: null,
  };
  const ajv = new Ajv(STRICT_AJV);
  assert.ok(ajv.validate(AuditEntry, entry), ajv.errorsText());
  assert.ok(!ajv.validate(AuditEntry, { ...entry, body: {} }));
});

// The events of the store and the events of the API have the same type; otherwise this does not compile.
const sent = (event: ExperimentEvent): EventSchema => event;
const recorded = (event: EventSchema): ExperimentEvent => event;

test('every event type has one schema', () => {
  const types = EventSchema.oneOf.map(({ properties }) => properties.type.const);
  assert.deepEqual(types.toSorted(), [...EVENT_TYPES].toSorted());
  const event = { type: 'checkpoint', step: 1, path: '/x' } as const;
  assert.deepEqual(recorded(sent(event)), event);
});

test('the schema of an experiment has the record version and every state', () => {
  assert.equal((Experiment.properties.version as { const?: number }).const, RECORD_VERSION);
  assert.deepEqual((Experiment.properties.state as { enum?: string[] }).enum, [...STATES]);
  // The assignment compiles only if the type has the states and is not `never`.
  const state: Experiment['state'] = 'queued';
  assert.ok(STATES.includes(state));
});

test('the schema of the verification counts is closed', () => {
  assert.equal((VerificationCounts as { additionalProperties?: boolean }).additionalProperties, false);
  assert.ok(Object.keys(VerificationCounts.properties).includes('unverifiable'));
});

test('a batch report may have additional fields, an artifact may not', () => {
  const report = {
    name: 'x',
    rows: 1,
    exact: 1,
    rounding: 0,
    wrong: 0,
    unverifiable: 0,
    findings: [],
    ok: true,
    fingerprint: 'hgpo',
    levels: [],
  };
  assert.ok(Value.Check(BatchReportView, report));
  const artifact = { kind: 'checkpoint', step: 1, path: '/x', attempt: 1, at: 5 };
  assert.ok(Value.Check(Artifact, artifact));
  assert.ok(!Value.Check(Artifact, { ...artifact, secret: 1 }));
});

test('a metric value is a number, or a word if it is not finite', () => {
  const of = (value: unknown) => ({
    series: [{ name: 'x', points: [{ attempt: 1, step: 0, value, at: 1 }] }],
    after: null,
    more: false,
  });
  for (const value of [0, -1.5, 'NaN', 'Infinity', '-Infinity'])
    assert.ok(Value.Check(MetricPoints, of(value)));
  for (const value of ['1', null, 'nan']) assert.ok(!Value.Check(MetricPoints, of(value)));
});

test('a feed message belongs to an experiment or to a sweep', () => {
  const message = { id: '7', at: 1, project: 'p', name: 'n', sweep: 'swp-1' };
  const event = { type: 'sweep', state: 'running', counts: {} };
  assert.ok(Value.Check(FeedMessage, { ...message, experiment: null, event }));
  assert.ok(!Value.Check(FeedMessage, { ...message, experiment: null, event: { type: 'metrics' } }));
});
