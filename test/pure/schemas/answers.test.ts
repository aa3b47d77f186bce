import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { EchelonError, ERRORS } from '../../../src/core/errors.ts';
import { STATES } from '../../../src/core/states.ts';
import { toProblem } from '../../../src/http/server/to-problem.ts';
import * as api from '../../../src/schemas/api.ts';

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
