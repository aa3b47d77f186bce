import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { InvalidArgumentError } from 'commander';
import { COMPARISON, FAULTY, FAULTY_STEP } from '../../../src/cli/commands/demo/demo.ts';
import { changedSpec, changesSpec, setting } from '../../../src/cli/spec-changes.ts';
import { readSpecFile, requireKind } from '../../../src/cli/spec-file.ts';
import { validateSpec } from '../../../src/engines/validate-spec.ts';
import { planProblems, sweepOfPlan } from '../../../src/plan/comparison/plan-comparison.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'echelon-spec-'));
});
after(() => rm(directory, { recursive: true }));

async function reading(text: string | Buffer, output?: Parameters<typeof readSpecFile>[1]): Promise<unknown> {
  const file = join(directory, 'spec.yaml');
  await writeFile(file, text);
  return readSpecFile(file, output);
}

const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof CliError && error.exitCode === EXIT.usage && pattern.test(error.message);

test('YAML and JSON are read alike', async () => {
  assert.deepEqual(await reading('name: a\nestimator:\n  historyLength: 2\n'), {
    name: 'a',
    estimator: { historyLength: 2 },
  });
  assert.deepEqual(await reading('{"name": "a", "x": [1, true, null]}'), { name: 'a', x: [1, true, null] });
});

test('a file that is not UTF-8 is refused, and a remark names numbers whose zeros are lost', async () => {
  await assert.rejects(reading(Buffer.from('name: caf\u00e9\n', 'latin1')), refused(/line 1 is not UTF-8/));
  const remarks: string[] = [];
  const output = { remark: (text: string) => void remarks.push(text) };
  assert.deepEqual(await reading('a: 1.10\n', output), { a: 1.1 });
  assert.match(remarks.join(), /line 1: 1\.10 is the number 1\.1\. Write "1\.10"/);
});

test('a bare `no` stays text, as YAML 1.2 has it', async () => {
  assert.deepEqual(await reading('name: no'), { name: 'no' });
});

test('a key that stands twice is refused with its place', async () => {
  await assert.rejects(
    reading('name: a\nname: b\n'),
    refused(/spec\.yaml, line 2, column 1: Map keys must be unique/),
  );
});

test('text that is not YAML is refused with its place', async () => {
  await assert.rejects(reading('name: [a'), refused(/line 1/));
});

test('a bomb of aliases is not expanded', async () => {
  const levels = Array.from(
    { length: 20 },
    (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}, *a${i}]`,
  );
  await assert.rejects(reading(`a0: &a0 [x, x]\n${levels.join('\n')}\n`), refused(/spec\.yaml: .*alias/i));
});

test('a file that is not there is refused by its name', async () => {
  await assert.rejects(
    readSpecFile(join(directory, 'none.yaml')),
    refused(/Cannot read .*none\.yaml: there is no such file\.$/),
  );
  await assert.rejects(readSpecFile(directory), refused(/it is a directory\.$/));
});

test('a file with nothing in it is said to be empty', async () => {
  await assert.rejects(reading(''), refused(/spec\.yaml is empty/));
  await assert.rejects(reading('# soon\n'), refused(/spec\.yaml is empty/));
});

test('a sweep is not taken for an experiment, nor the reverse; the API judges the rest', () => {
  const [experiment, sweep] = [{ engine: 'local' }, { spec: {}, axes: {} }];
  assert.throws(() => requireKind('s.yaml', sweep, 'experiment'), refused(/echelon sweeps submit s\.yaml/));
  assert.throws(() => requireKind('e.yaml', experiment, 'sweep'), refused(/echelon submit e\.yaml/));
  for (const other of [null, 'text', [], {}]) {
    requireKind('x', other, 'sweep');
    requireKind('x', other, 'experiment');
  }
  requireKind('e', experiment, 'experiment');
  requireKind('s', sweep, 'sweep');
});

const set = (...texts: string[]) =>
  texts.reduce<ReturnType<typeof setting>>((all, text) => setting(text, all), []);

test('values are read as YAML and set in a copy of the spec', () => {
  const spec = { name: 'a', training: { seed: 1 } };
  const changed = changedSpec(spec, {
    set: set(
      'training.seed=2',
      '/training/steps=5',
      'labels=[x, y]',
      'estimator.name=hgpo',
      'flag=true',
      'text=a=b',
    ),
    name: 'b',
    priority: -3,
    project: 'vision',
  });
  assert.deepEqual(changed, {
    name: 'b',
    training: { seed: 2, steps: 5 },
    labels: ['x', 'y'],
    estimator: { name: 'hgpo' },
    flag: true,
    text: 'a=b',
    priority: -3,
    project: 'vision',
  });
  assert.deepEqual(spec, { name: 'a', training: { seed: 1 } });
});

test('without changes the spec is the same, whatever it is', () => {
  assert.equal(changedSpec('text', {}), 'text');
  assert.equal(changesSpec({}), false);
  assert.equal(changesSpec({ priority: 0 }), true);
});

test('what cannot be set is wrong usage', () => {
  for (const text of ['seed', '=1', 'a=[']) assert.throws(() => setting(text), InvalidArgumentError, text);
  assert.throws(() => changedSpec({ name: 'a' }, { set: set('name.x=1') }), CliError);
  assert.throws(() => changedSpec({}, { set: set('__proto__.x=1') }), CliError);
  assert.throws(() => changedSpec([1], { name: 'x' }), CliError);
});

test('every spec of the demo is one that the API accepts', () => {
  for (const spec of [FAULTY, FAULTY_STEP])
    assert.doesNotThrow(() => resolveSpec(validateSpec(structuredClone(spec))), spec.name);
});

test('the methods of the demo differ in their estimator alone, and its plan has no problem', () => {
  assert.deepEqual(planProblems(COMPARISON), []);
  const axes = sweepOfPlan(COMPARISON).axes as Record<string, unknown[]>;
  assert.deepEqual(Object.keys(axes), ['name', 'training.seed', 'estimator']);
  assert.equal(axes.name!.length, 12);
  for (const estimator of axes.estimator!) {
    const spec = { ...COMPARISON.spec, name: 'a run', estimator };
    assert.doesNotThrow(() => resolveSpec(validateSpec(structuredClone(spec))));
  }
});
