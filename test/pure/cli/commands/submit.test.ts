import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { resolvedYaml } from '../../../../src/cli/commands/submit.ts';
import { validateSpec } from '../../../../src/engines/validate-spec.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

test('a resolved spec marks its defaults, and no other value', () => {
  const submitted = {
    name: 'a: b',
    engine: 'local',
    estimator: { name: 'hgpo', historyLength: 2 },
    training: { steps: 3 },
  };
  const { spec, defaults } = resolveSpec(validateSpec(submitted));
  const text = resolvedYaml(spec, defaults);
  assert.deepEqual(parse(text), spec);
  assert.ok(
    text.startsWith('name: "a: b"\nengine: local\nestimator:\n  name: hgpo\n  historyLength: 2\n'),
    text,
  );
  assert.match(text, /\n {2}steps: 3\n {2}learningRate: [\d.]+ # default\n/);
  const unmarked = text.split('\n').filter((line) => /: \S/.test(line) && !line.endsWith(' # default'));
  const given = ['name: "a: b"', 'engine: local', '  name: hgpo', '  historyLength: 2', '  steps: 3'];
  assert.deepEqual(
    unmarked.filter((line) => !/\{\}|\[\]/.test(line)),
    given,
  );
});

test('below a pointer that was filled in, all is a default; a key with a slash is found', () => {
  assert.equal(
    resolvedYaml({ rules: [{ when: 1 }], env: { 'a/b': 2, c: 3 } }, ['/rules', '/env/a~1b']),
    'rules:\n  - when: 1 # default\nenv:\n  a/b: 2 # default\n  c: 3',
  );
});
