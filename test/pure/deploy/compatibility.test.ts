import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { EVENT_TYPES } from '../../../src/core/events.ts';
import { STATES } from '../../../src/core/states.ts';
import { RECORD_VERSION } from '../../../src/schemas/experiment.ts';

/** What was released: names and numbers that may be added to, never taken away. */
const RELEASED = JSON.parse(readFileSync(new URL('./released.json', import.meta.url), 'utf8')) as {
  record: number;
  states: string[];
  events: string[];
  messages: Record<string, string[]>;
};

/** `name = number type` of every field and enum value below a file. */
function wireOf(file: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  const visit = (space: protobuf.NamespaceBase): void => {
    for (const nested of space.nestedArray) {
      if (nested instanceof protobuf.Type)
        found[nested.fullName] = nested.fieldsArray.map(
          ({ name, id, type, repeated }) => `${name} = ${id} ${repeated ? 'repeated ' : ''}${type}`,
        );
      if (nested instanceof protobuf.Enum)
        found[nested.fullName] = Object.entries(nested.values).map(([name, id]) => `${name} = ${id}`);
      if (nested instanceof protobuf.Service)
        found[nested.fullName] = nested.methodsArray.map(
          ({ name, requestType, responseType }) => `${name}(${requestType}) ${responseType}`,
        );
      if (nested instanceof protobuf.Namespace) visit(nested);
    }
  };
  visit(protobuf.loadSync(file));
  return found;
}

const WIRE = {
  ...wireOf('proto/echelon/rayworker/v1/rayworker.proto'),
  ...wireOf('proto/echelon/batch/v1/batch.proto'),
};

test('no message, field or number of the protocols has gone or changed its meaning', () => {
  assert.ok(Object.keys(RELEASED.messages).length > 15);
  for (const [message, fields] of Object.entries(RELEASED.messages))
    for (const field of fields) assert.ok(WIRE[message]?.includes(field), `${message}: ${field}`);
});

test('no state and no event type has gone', () => {
  for (const state of RELEASED.states) assert.ok((STATES as readonly string[]).includes(state), state);
  for (const event of RELEASED.events) assert.ok((EVENT_TYPES as readonly string[]).includes(event), event);
});

test('a new version of the record is a decision: it says here that older ones are read', () => {
  assert.equal(RECORD_VERSION, RELEASED.record);
});
