import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { EchelonError, type FieldProblem } from '../../../src/core/errors.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { childSpec, childValues, draftSweep, makeChild } from '../../../src/plan/sweep.ts';
import { createSweepCheck } from '../../../src/plan/sweep-check.ts';
import { valueInWords } from '../../../src/plan/sweep-names.ts';
import type { SweepRequest } from '../../../src/schemas/sweep.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';
import { SECRETS } from '../../support/secrets.ts';

const LOCAL = { engine: 'local', estimator: { name: 'hgpo' } };

function request(changes: Partial<SweepRequest>): SweepRequest {
  return { name: 'a sweep', method: 'grid', spec: LOCAL, axes: { 'training.seed': [1, 2] }, ...changes };
}

function problemsOf(changes: Partial<SweepRequest>, customCode = false): readonly FieldProblem[] {
  try {
    const draft = draftSweep(request(changes));
    const check = createSweepCheck(draft, (spec) => resolveSpec(spec, { customCode }));
    draft.entries.forEach((_entry, index) => void check.child(index));
    check.refuse();
  } catch (error) {
    assert.ok(error instanceof EchelonError && error.code === 'invalid-spec', String(error));
    return error.problems;
  }
  return [];
}

// Fails if only the children are checked: no child contains the name of the sweep.
test('a secret in plain text anywhere in a sweep request is refused and not quoted', () => {
  for (const { secret } of SECRETS)
    for (const changes of [
      { name: `with ${secret}`, axes: { name: ['a', 'b'] } },
      { axes: { name: ['a', secret] } },
      { spec: { ...LOCAL, env: { HF_TOKEN: secret } } },
      { axes: { [`env.${secret}`]: ['a'] } },
    ]) {
      const problems = problemsOf(changes);
      assert.match(problems[0]?.message ?? '', /a spec holds no secrets/, JSON.stringify(changes));
      assert.ok(!JSON.stringify(problems).includes(secret), JSON.stringify(problems));
    }
});

test('early stopping is refused if there are too few other children', () => {
  const earlyStopping = { metric: 'm', goal: 'max', afterSteps: 1, everySteps: 1, minChildren: 1 } as const;
  assert.deepEqual(problemsOf({ earlyStopping }), []);
  const fields = (changes: Partial<SweepRequest>) => problemsOf(changes).map(({ field }) => field);
  assert.deepEqual(fields({ earlyStopping: { ...earlyStopping, minChildren: 2 } }), [
    '/earlyStopping/minChildren',
  ]);
  assert.deepEqual(fields({ earlyStopping, axes: { 'training.seed': [1] } }), ['/earlyStopping']);
});

test('values that make the same run twice are refused at the second one, in every form of the value', () => {
  const spec = { engine: 'command', command: ['python', '{lr}', '{s}'] };
  const fields = (changes: Partial<SweepRequest>) =>
    problemsOf({ spec, ...changes }, true).map(({ field }) => field);
  assert.deepEqual(fields({ axes: { 'parameters.lr': [0.1, 1e-1, '0.1'], 'parameters.s': [1] } }), [
    '/axes/parameters.lr/1',
    '/axes/parameters.lr/2',
  ]);
  assert.deepEqual(fields({ spec: LOCAL, axes: { 'training.seed': [1, 1.0], priority: [0, -0] } }), [
    '/axes/priority/1',
    '/axes/training.seed/1',
    '/axes/training.seed/1',
  ]);
  // The second has its default in full.
  const estimators = [{ name: 'grpo' }, { name: 'grpo', epsilon: 1e-6 }];
  assert.equal(fields({ spec: { engine: 'local' }, axes: { estimator: estimators } }).length, 1);
  const pairs = { 'parameters.lr': [1, 1, 1], 'parameters.s': [1, 2, 1] };
  assert.deepEqual(fields({ method: 'list', axes: pairs }), ['/axes/parameters.lr/2']);
  assert.deepEqual(fields({ method: 'list', axes: { ...pairs, 'parameters.s': [1, 2, 3] } }), []);
});

test('random draws may repeat, and the children that do are counted', () => {
  const draft = draftSweep(request({ method: 'random', count: 20, axes: { 'training.seed': [1, 2] } }));
  const check = createSweepCheck(draft, (spec) => resolveSpec(spec));
  draft.entries.forEach((_entry, index) => void check.child(index));
  check.refuse();
  assert.equal(check.repeated(), 18);
});

describe('children', () => {
  test('a grid has a child for every combination, and its last axis changes fastest', () => {
    const draft = draftSweep(
      request({ axes: { '/training/seed': [1, 2], 'estimator.name': ['hgpo', 'grpo'] } }),
    );
    assert.deepEqual(
      draft.entries.map((entry) => Object.values(childValues(draft.axes, entry))),
      [
        [1, 'hgpo'],
        [1, 'grpo'],
        [2, 'hgpo'],
        [2, 'grpo'],
      ],
    );
  });

  test('the n-th child of a list has the n-th value of every axis', () => {
    const axes = { 'training.seed': [3, 4], 'training.steps': [30, 40] };
    const draft = draftSweep(request({ method: 'list', axes }));
    assert.deepEqual(
      draft.entries.map((entry) => childValues(draft.axes, entry)),
      [3, 4].map((seed) => ({ '/training/seed': seed, '/training/steps': seed * 10 })),
    );
  });

  test('a child is the shared spec with its values, resolved like a single submission', () => {
    const draft = draftSweep(request({ axes: { estimator: [{ name: 'grpo' }], 'training.seed': [5] } }));
    const spec = childSpec(draft, draft.entries[0]!);
    assert.deepEqual(spec, {
      engine: 'local',
      name: 'a sweep: estimator=grpo, seed=5',
      estimator: { name: 'grpo' },
      training: { seed: 5 },
    });
    const child = makeChild(draft, draft.entries[0]!);
    assert.equal(makeChild(draft, draft.entries[0]!, 'other').cluster, child.cluster ?? 'other');
    const named = { ...draft, spec: { ...(draft.spec as object), cluster: 'own' } };
    assert.equal(makeChild(named, draft.entries[0]!, 'other').cluster, 'own');
    const alone = resolveSpec(child.submitted);
    assert.deepEqual([child.resolved, child.defaults], [alone.spec, alone.defaults]);
    assert.deepEqual(LOCAL, { engine: 'local', estimator: { name: 'hgpo' } });
  });

  test('children have distinct names of at most 100 characters, even if their values are long', () => {
    const name = 'a sweep with a long name, '.repeat(3).trim();
    const draft = draftSweep(
      request({ name, axes: { labels: [{ team: 'x'.repeat(60) }], 'training.seed': [1, 2, 3] } }),
    );
    const names = draft.entries.map((entry) => childSpec(draft, entry).name as string);
    assert.equal(new Set(names).size, 3, names.join('\n'));
    for (const one of names) assert.match(one, /^a sweep with a long name.{1,80}… #[0-9a-f]{8}$/);
    assert.ok(names.every((one) => one.length <= 100));
  });

  test('the name of a child is valid for a spec, whatever its values', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const draft = draftSweep(request({ axes: { anything: [text] } }));
        const { name } = childSpec(draft, draft.entries[0]!) as { name: string };
        assert.match(name, /^\P{Cc}{1,100}$/u);
      }),
    );
    const own = draftSweep(request({ axes: { name: ['mine'] } }));
    assert.equal(childSpec(own, own.entries[0]!).name, 'mine');
  });
});

describe('random draws', () => {
  const axes = {
    'training.learningRate': { min: 1e-4, max: 1e-1, scale: 'log' as const },
    'training.steps': { min: 2, max: 5, integer: true },
    'estimator.name': ['hgpo', 'grpo'],
  };
  const drawn = (seed: number, count = 400) => {
    const draft = draftSweep(request({ method: 'random', count, seed, axes }));
    return draft.entries.map(
      (entry) => Object.values(childValues(draft.axes, entry)) as [number, number, string],
    );
  };

  test('random draws with one seed are equal, and with another seed different', () => {
    assert.deepEqual(drawn(7), drawn(7));
    assert.deepEqual(drawn(7, 5), drawn(7).slice(0, 5));
    assert.notDeepEqual(drawn(7), drawn(8));
  });

  test('random draws stay in their range and cover it', () => {
    const draws = drawn(1);
    assert.ok(draws.every(([rate]) => rate >= 1e-4 && rate <= 1e-1 && Number(rate.toPrecision(6)) === rate));
    const low = draws.filter(([rate]) => rate < 10 ** -2.5).length;
    assert.ok(low > 150 && low < 250, `${low} of 400 in the lower half of the scale`);
    assert.deepEqual(new Set(draws.map(([, steps]) => steps)), new Set([2, 3, 4, 5]));
    assert.deepEqual(new Set(draws.map(([, , name]) => name)), new Set(['hgpo', 'grpo']));
  });
});

describe('a sweep is refused as a whole', () => {
  const cases: [string, Partial<SweepRequest>, FieldProblem['field'], RegExp][] = [
    [
      'for a value',
      { axes: { 'training.seed': [1, 'two'] } },
      '/axes/training.seed/1',
      /^in child 1, \/training\/seed: must be an integer/,
    ],
    [
      'inside an object',
      { axes: { estimator: [{ name: 'hgpoo' }] } },
      '/axes/estimator/0/name',
      /in child 0.*did you mean hgpo/,
    ],
    [
      'for its spec',
      { spec: { ...LOCAL, stepz: 1 } },
      '/spec/stepz',
      /in child 0, \/stepz: is not a known key/,
    ],
    [
      'for a contradiction',
      { axes: { 'estimator.normalizeByStd': [true] } },
      '/axes/estimator.normalizeByStd/0',
      /in child 0/,
    ],
    [
      'for a place that is none',
      { axes: { 'estimator.name.x': [1] } },
      '/axes/estimator.name.x',
      /name is no object/,
    ],
    [
      'for a place that reaches a prototype',
      { axes: { '/__proto__/x': [1] } },
      '/axes/~1__proto__~1x',
      /is not a path in a spec/,
    ],
    ['for an empty place', { axes: { 'a..b': [1] } }, '/axes/a..b', /is not a path in a spec/],
    ['for another project', { axes: { project: ['a', 'b'] } }, '/axes/project', /one project/],
    ['for one place twice', { axes: { 'training.seed': [1], '/training/seed': [2] } }, '/axes', /same place/],
    [
      'for a place inside another',
      { axes: { estimator: [{}], 'estimator.name': ['grpo'] } },
      '/axes',
      /same place/,
    ],
    [
      'for a range in a grid',
      { axes: { 'training.seed': { min: 1, max: 2 } } },
      '/axes/training.seed',
      /list of values/,
    ],
    [
      'for an empty range',
      { method: 'random', count: 1, axes: { a: { min: 2, max: 1 } } },
      '/axes/a',
      /not above/,
    ],
    [
      'for a log of 0',
      { method: 'random', count: 1, axes: { a: { min: 0, max: 1, scale: 'log' } } },
      '/axes/a',
      /above 0/,
    ],
    [
      'for no whole number',
      { method: 'random', count: 1, axes: { a: { min: 0.2, max: 0.8, integer: true } } },
      '/axes/a',
      /whole/,
    ],
    ['for no count', { method: 'random' }, '/count', /missing/],
    ['for a count of a grid', { count: 3 }, '/count', /remove/],
    ['for a seed of a grid', { seed: 3 }, '/seed', /remove/],
    [
      'for unequal lists',
      { method: 'list', axes: { 'training.seed': [1, 2], 'training.steps': [1] } },
      '/axes',
      /one length/,
    ],
    [
      'for too many children',
      { axes: { a: Array(101).fill(1), b: Array(100).fill(1) } },
      '/axes',
      /10100 children/,
    ],
  ];
  for (const [what, changes, field, message] of cases) {
    test(`a sweep is refused as a whole ${what}`, () => {
      const [first] = problemsOf(changes);
      assert.equal(first?.field, field);
      assert.match(first.message, message);
    });
  }

  test('long variables that all children share cost little, and those of an axis and of another engine are checked', async () => {
    const env = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`MY_${at}`, 'x'.repeat(4000)]));
    const axes = { 'training.seed': Array.from({ length: 2000 }, (_, at) => at) };
    const costOf = (spec: object) =>
      cpuTimeOf(async () =>
        assert.deepEqual(problemsOf({ spec: spec as SweepRequest['spec'], axes }, true), []),
      );
    await costOf(LOCAL);
    const short = await costOf(LOCAL);
    // Sixteen times as much if each child's are checked.
    assert.ok((await costOf({ ...LOCAL, env })) < 8 * short);

    for (const [changes, field] of [
      [{ spec: { ...LOCAL, env }, axes: { 'env.MY_0': ['a', '\u0007'] } }, '/axes/env.MY_0/1'],
      [{ spec: { ...LOCAL, env }, axes: { env: [{ A: 'a' }, { A: '\u0007' }] } }, '/axes/env/1/A'],
      [{ spec: { ...LOCAL, env: { A: '\u0007' } } }, '/spec/env/A'],
      [
        { spec: { env, files: { '../a': 'b' } }, axes: { engine: ['command'], command: [['a']] } },
        '/spec/files',
      ],
    ] as const)
      assert.ok(problemsOf(changes as Partial<SweepRequest>, true)[0]!.field.startsWith(field), field);
  });

  test('a problem of the shared spec is reported once, not for every child', () => {
    const problems = problemsOf({ spec: { ...LOCAL, stepz: 1 }, axes: { 'training.seed': [1, 2, 3, 4] } });
    assert.equal(problems.length, 1);
  });
});

test('valueInWords names an object by its name and its other fields, and any other value as JSON', () => {
  const cases: [unknown, string][] = [
    ['grpo', 'grpo'],
    [3, '3'],
    [null, 'null'],
    [[1, 2], '[1,2]'],
    [{ b: 1, a: 'x' }, '{"a":"x","b":1}'],
    [{ name: 7 }, '{"name":7}'],
    [{ mode: 'mean_norm', name: 'hgpo', historyLength: 2 }, 'hgpo historyLength=2 mode=mean_norm'],
  ];
  for (const [value, words] of cases) assert.equal(valueInWords(value), words);
});
