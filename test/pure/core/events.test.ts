import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { END_CAUSES, EVENT_TYPES } from '../../../src/core/events.ts';

const proto = readFileSync('proto/echelon/rayworker/v1/rayworker.proto', 'utf8');

test('the causes of an end are those of the wire', () => {
  const [, block] = /enum Cause \{([^}]*)\}/.exec(proto)!;
  const wire = [...block!.matchAll(/^\s*([A-Z_]+) = (\d+);/gm)]
    .filter(([, , number]) => number !== '0')
    .map(([, name]) => name!.toLowerCase().replaceAll('_', '-'));
  assert.deepEqual([...END_CAUSES], wire);
});

test('every event of the wire has its type', () => {
  const [, block] = /message AttemptEvent \{[\s\S]*?oneof body \{([^}]*)\}/.exec(proto)!;
  const wire = [...block!.matchAll(/^\s*\w+ (\w+) = \d+;/gm)].map(([, name]) => name);
  assert.deepEqual(
    EVENT_TYPES.filter((type) => !['state', 'verification', 'rule'].includes(type)),
    wire,
  );
});
