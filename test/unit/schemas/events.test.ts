import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_TYPES, type ExperimentEvent } from '../../../src/core/events.ts';
import { EventSchema } from '../../../src/schemas/events.ts';

// Whatever the store records fits what clients are told, and the reverse: this does not compile otherwise.
const told = (event: ExperimentEvent): EventSchema => event;
const recorded = (event: EventSchema): ExperimentEvent => event;

test('every type of event has its schema, once', () => {
  const types = EventSchema.anyOf.map(({ properties }) => properties.type.const);
  assert.deepEqual(types.toSorted(), [...EVENT_TYPES].toSorted());
  const event = { type: 'checkpoint', step: 1, path: '/x' } as const;
  assert.deepEqual(recorded(told(event)), event);
});
