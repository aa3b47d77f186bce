import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_TYPES, type ExperimentEvent } from '../../../src/core/events.ts';
import { EventSchema } from '../../../src/schemas/events.ts';

// The events of the store and the events of the API have the same type; otherwise this does not compile.
const sent = (event: ExperimentEvent): EventSchema => event;
const recorded = (event: EventSchema): ExperimentEvent => event;

test('every event type has one schema', () => {
  const types = EventSchema.anyOf.map(({ properties }) => properties.type.const);
  assert.deepEqual(types.toSorted(), [...EVENT_TYPES].toSorted());
  const event = { type: 'checkpoint', step: 1, path: '/x' } as const;
  assert.deepEqual(recorded(sent(event)), event);
});
