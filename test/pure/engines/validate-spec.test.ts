import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allEngines } from '../../../src/engines/registry.ts';
import { invalidSpec, specProblems, validateSpec } from '../../../src/engines/validate-spec.ts';

const local = (changes: object = {}) => ({
  engine: 'local',
  name: 'x',
  estimator: { name: 'hgpo' },
  ...changes,
});

function fields(input: unknown): string[] {
  return [...new Set(specProblems(input).map(({ field }) => field))];
}

describe('specProblems', () => {
  test('specProblems accepts valid specs without changing them', () => {
    const spec = local({ rollout: { groupSize: 4 }, name: '😀 12:34 日本' });
    const before = structuredClone(spec);
    assert.deepEqual(specProblems(spec), []);
    assert.deepEqual(spec, before);
    assert.deepEqual(specProblems({ engine: 'replay', name: '42' }), []);
  });

  test('specProblems of an unknown engine reports only the engine', () => {
    assert.deepEqual(fields({}), ['/engine']);
    assert.match(specProblems({ engine: 'Local' })[0]!.message, /did you mean local\?/);
    assert.deepEqual(fields({ engine: 'toString' }), ['/engine']);
    assert.deepEqual(fields({ engine: null }), ['/engine']);
    assert.deepEqual(fields(Object.create({ engine: 'local' })), ['/engine']);
  });

  test('specProblems applies only the schema of the named engine', () => {
    assert.deepEqual(fields({ engine: 'replay', name: 'x', estimator: { name: 'hgpo' } }), ['/estimator']);
    assert.deepEqual(fields({ engine: 'local', name: 'x' }), ['/estimator']);
  });

  test('specProblems refuses GPUs and several nodes for an engine that runs on the CPU of one node', () => {
    for (const spec of [local(), { engine: 'replay', name: 'x' }]) {
      assert.deepEqual(specProblems({ ...spec, resources: { gpus: 0, nodes: 1, cpus: 2 } }), []);
      assert.deepEqual(specProblems({ ...spec, resources: { gpus: 1, nodes: 2 } }), [
        { field: '/resources/nodes', message: 'must be 1, but 2 came' },
        { field: '/resources/gpus', message: 'must be 0, but 1 came' },
      ]);
    }
  });

  test('specProblems converts no value', () => {
    for (const value of [null, true, '4', [], {}, 1.5, -1]) {
      assert.deepEqual(
        fields(local({ estimator: { name: 'hgpo', historyLength: value } })),
        ['/estimator/historyLength'],
        JSON.stringify(value),
      );
    }
  });

  test('specProblems refuses texts that are empty, too long or malformed', () => {
    assert.deepEqual(fields(local({ name: 'x'.repeat(101) })), ['/name']);
    assert.deepEqual(fields(local({ name: '' })), ['/name']);
    assert.deepEqual(fields(local({ name: 'a\nb' })), ['/name']);
    assert.deepEqual(fields(local({ name: '   ' })), ['/name']);
    assert.match(
      specProblems(local({ name: '   ' }))[0]!.message,
      /^" {3}" does not fit: .*It needs a visible character/,
    );
    assert.deepEqual(fields(local({ project: '../etc' })), ['/project']);
    assert.deepEqual(fields(local({ cluster: 'a b' })), ['/cluster']);
  });

  test('specProblems refuses an input that is not an object', () => {
    for (const input of [null, 1, 'x', [], undefined]) assert.deepEqual(fields(input), ['']);
  });
});

test('variables may hold keys and JSON, and no message of a spec is a regular expression', () => {
  const env = { KEYS: 'line one\n\tline two\r\n', JSON: '{\n "a": 1 }' };
  assert.deepEqual(specProblems(local({ env })), []);
  assert.deepEqual(
    specProblems(local({ env: { 'MY-VAR': 'x', ALERT: '\u0007' } })).map(({ message }) =>
      message.slice(0, 60),
    ),
    [
      'is no key that fits: Environment variables of the driver and',
      '"\\u0007" does not fit: Text without control characters other',
    ],
  );
  const unexplained: string[] = [];
  const look = (schema: unknown, at: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { pattern, patternProperties, description } = schema as Record<string, unknown>;
    if ((typeof pattern === 'string' || patternProperties !== undefined) && !description)
      unexplained.push(at);
    for (const [key, below] of Object.entries(schema)) look(below, `${at}/${key}`);
  };
  for (const { name, schema } of allEngines()) look(schema, name);
  assert.deepEqual(unexplained, []);
});

test('validateSpec returns the spec or throws all problems at once', () => {
  assert.equal(validateSpec(local()).name, 'x');
  assert.throws(
    () => validateSpec(local({ nmae: 1, rollout: { groups: 0 } })),
    (error: Error & { code?: string; problems?: unknown[] }) =>
      error.code === 'invalid-spec' && error.problems?.length === 2 && error.message.includes('2 problems'),
  );
});

test('the message of invalidSpec counts its problems', () => {
  assert.match(invalidSpec([{ field: '/a', message: 'is bad' }]).message, /one problem/);
});
