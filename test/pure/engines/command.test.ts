import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_FILE_BYTES, MAX_FILES } from '../../../src/core/launch-plan.ts';
import { PLACES, unusedParameters, withParameters } from '../../../src/engines/command/arguments.ts';
import { COMMAND } from '../../../src/engines/command/engine.ts';
import type { CommandSpec } from '../../../src/engines/command/spec.ts';
import type { Permissions } from '../../../src/engines/engine.ts';
import type { ExperimentSpec } from '../../../src/engines/registry.ts';
import { specProblems, validateSpec } from '../../../src/engines/validate-spec.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { draftSweep, makeChild } from '../../../src/plan/sweep.ts';
import { createSweepCheck } from '../../../src/plan/sweep-check.ts';

const SMALL: CommandSpec = { engine: 'command', name: 'x', command: ['python', 'train.py'] };
const OWNER = { customCode: true };

const plan = (spec: Partial<CommandSpec>) =>
  compilePlan(resolveSpec({ ...SMALL, ...spec } as ExperimentSpec, OWNER).spec);
const refused = (spec: Partial<CommandSpec>) =>
  COMMAND.problems({ ...SMALL, ...spec }).map(({ field }) => field);

test('the plan of a command has the directories, then the program with its arguments as they are', () => {
  const command = ['python', 'train.py', '', '--', 'a b=$(c)', '{rate}'];
  const {
    arguments: all,
    files,
    module,
    gpus,
    cpus,
  } = plan({
    command,
    parameters: { rate: 0.1 },
    resume: ['--from', '{checkpoint}', '{rate}'],
    resources: { nodes: 2, gpus: 4 },
  });
  assert.equal(module, 'echelon_rayworker.engines.command');
  assert.deepEqual([gpus, cpus], [8, 8]);
  assert.deepEqual(all, [
    'attempt_dir={attemptDir}',
    'experiment_dir={experimentDir}',
    'shared_root={sharedRoot}',
    '--',
    ...command.with(-1, '0.1'),
  ]);
  assert.deepEqual(JSON.parse(String(files['spec.json'])).plan, {
    resume: ['--from', '{checkpoint}', '0.1'],
  });
});

test('a command without the scope custom-code is refused', () => {
  assert.throws(() => resolveSpec(SMALL as ExperimentSpec), {
    code: 'invalid-spec',
    problems: [
      { field: '/engine', message: 'would load your own code: that needs a key with the scope custom-code' },
    ],
  });
});

test('fields of a command that contradict each other or have no effect are refused', () => {
  assert.deepEqual(refused({ parameters: { lr: 1 } }), ['/parameters/lr']);
  assert.deepEqual(refused({ command: ['{checkpoint}'], parameters: { checkpoint: 'x' } }), [
    '/parameters/checkpoint',
  ]);
  assert.deepEqual(refused({ resume: ['--from'] }), ['/resume']);
  assert.deepEqual(refused({ metrics: {} }), ['/metrics']);
  assert.deepEqual(refused({ metrics: { jsonPrefix: '', tensorboard: 'runs' } }), ['/metrics']);
  assert.deepEqual(refused({ metrics: { lines: { loss: '{number}', acc: '{number}' } } }), [
    '/metrics/lines/step',
  ]);
  assert.deepEqual(refused({ metrics: { lines: { step: '{number}' } } }), ['/metrics/lines']);
  assert.deepEqual(refused({ resources: { nodes: 2 } }), ['/resources/nodes']);
  assert.deepEqual(refused({ files: {}, workingDir: 'x' }), ['/workingDir']);
  assert.deepEqual(refused({ files: { a: 'x'.repeat(100_000), b: 'é'.repeat(20_000) } }), ['/files']);
  const sound: Partial<CommandSpec> = {
    parameters: { lr: 1 },
    command: ['x', '{lr}'],
    resume: ['{checkpoint}'],
    metrics: { lines: { step: 'step {number}', loss: 'loss {number}' } },
    resources: { nodes: 2, gpus: 1 },
  };
  assert.deepEqual(refused(sound), []);
});

test('a sweep over a parameter gives each child its arguments', () => {
  const spec = { ...SMALL, command: ['x', '--lr={lr}'], parameters: {} };
  const draft = draftSweep({ name: 's', method: 'grid', spec, axes: { 'parameters.lr': [0.1, 0.2] } });
  const check = createSweepCheck(draft, (child) => resolveSpec(child, OWNER));
  const plans = draft.entries.map((_entry, index) =>
    compilePlan(check.child(index)!.resolved.spec).arguments.at(-1),
  );
  check.refuse();
  assert.deepEqual(plans, ['--lr=0.1', '--lr=0.2']);
  assert.equal(makeChild(draft, draft.entries[0]!).customCode, true);
});

test('a parameter replaces its name in every argument once, and other braces stay', () => {
  const argv = ['--lr={lr}', '{"a":{lr}}', '{tag}', '{other} {}', ...PLACES.map((name) => `{${name}}`)];
  assert.deepEqual(withParameters(argv, { lr: 1e-7, tag: '{lr}', on: true }), [
    '--lr=1e-7',
    '{"a":1e-7}',
    '{lr}',
    '{other} {}',
    '{sharedRoot}',
    '{experimentDir}',
    '{attemptDir}',
    '{checkpoint}',
  ]);
});

test('an argument is omitted if its parameter is null, or false where {?name} makes it a flag', () => {
  const argv = ['x', '--lr={lr}', '--kl{?kl}', '--tag={tag}{?kl}', '{note}'];
  const cases = [
    [{ lr: 0.1, kl: true, tag: 'a', note: '' }, ['x', '--lr=0.1', '--kl', '--tag=a', '']],
    [{ lr: null, kl: false, tag: 'a', note: null }, ['x']],
    [{ lr: false, kl: null, tag: 'a', note: 'n' }, ['x', '--lr=false', 'n']],
  ] as const;
  for (const [parameters, expected] of cases)
    assert.deepEqual(withParameters(argv, parameters), expected, JSON.stringify(parameters));
  assert.deepEqual(refused({ command: ['{x}', 'y'], parameters: { x: null } }), ['/command/0']);
  const spec = { ...SMALL, command: ['x', '--kl{?kl}'] };
  const draft = draftSweep({ name: 's', method: 'grid', spec, axes: { 'parameters.kl': [true, false] } });
  const children = draft.entries.map((entry) => compilePlan(makeChild(draft, entry).resolved));
  assert.deepEqual(
    children.map((one) => one.arguments.slice(one.arguments.indexOf('--') + 1)),
    [['x', '--kl'], ['x']],
  );
});

test('an argument that names a parameter which is not set is refused, and other braces are text', () => {
  const of = (command: string[], parameters = {}) => refused({ command, parameters });
  assert.deepEqual(of(['x', '--lr={lr}']), ['/command/1']);
  assert.deepEqual(of(['x', 'optim.lr={lr}', '--kl{?kl}']), ['/command/1', '/command/2']);
  assert.deepEqual(of(['x', '{lr}', '{prog}'], { lr: 1 }), ['/command/2']);
  assert.deepEqual(refused({ resume: ['--from={checkpoint}', '--lr={lr}'] }), ['/resume/1']);
  for (const argument of ['{print}', "print(f'{i}')", '--out={experimentDir}', '{"a":{b}}', 's/{a}/b/'])
    assert.deepEqual(of(['x', argument]), [], argument);
  const [problem] = COMMAND.problems({
    ...SMALL,
    command: ['x', '--a={lr}', '--b={lrr}'],
    parameters: { lr: 1 },
  });
  assert.equal(problem?.message, 'contains {lrr}, which is no parameter; did you mean {lr}?');
});

test('parameters that no argument names are unused', () => {
  assert.deepEqual(unusedParameters(['--lr={lr}', 'tag'], { lr: 1, tag: 'x' }), ['tag']);
});

const fields = (spec: object) => specProblems({ ...SMALL, ...spec }).map(({ field }) => field);

test('a command spec refuses paths that leave their directory, unknown fields, and plain secrets in arguments', () => {
  for (const path of ['/etc', '..', '../x', 'a/..', 'a/../b', 'a\\b', '', 'a\nb'])
    assert.deepEqual(fields({ workingDir: path }), ['/workingDir'], path);
  for (const path of ['a', 'a/b', '..a', 'a..b/c', './a'])
    assert.deepEqual(fields({ workingDir: path }), [], path);
  assert.deepEqual(fields({ metrics: { tensorboard: '../x' } }), ['/metrics/tensorboard']);
  assert.deepEqual(fields({ files: { '../x': '' } }), ['/files/..~1x']);
  assert.deepEqual(fields({ batches: '/tmp' }), ['/batches']);
  assert.deepEqual(fields({ shell: true }), ['/shell']);
  assert.deepEqual(fields({ command: [] }), ['/command']);
  assert.deepEqual(fields({ command: ['x', '--api-key=Zx81hJq0PLm3Ns92kdQw'] }), ['/command/1']);
  for (const pattern of ['loss', '{number} {number}', '(a+)+{number}{'])
    assert.deepEqual(fields({ metrics: { lines: { step: '{number}', loss: pattern } } }), [
      '/metrics/lines/loss',
    ]);
});

const withFiles = (count: number, bytes: number) => {
  const files = Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.py`, '#'.repeat(bytes)]));
  const spec = validateSpec({ engine: 'command', name: 'x', command: ['true'], files });
  return resolveSpec(spec, { customCode: true });
};

test('a spec holds as many files and bytes as stated, and no more', () => {
  withFiles(MAX_FILES, 1);
  withFiles(2, MAX_FILE_BYTES / 2);
  assert.throws(() => withFiles(MAX_FILES + 1, 1), { code: 'invalid-spec' });
  assert.throws(() => withFiles(2, MAX_FILE_BYTES / 2 + 1), { code: 'invalid-spec' });
});

test('a runtime environment has one field, which every cluster that may run the experiment allows', () => {
  const pip = ['torch==2.9.1'];
  for (const runtimeEnv of [{}, { pip, conda: 'base' }])
    assert.deepEqual(refused({ runtimeEnv }), ['/runtimeEnv']);
  assert.deepEqual(fields({ runtimeEnv: { imageUri: 'an/image' } }), ['/runtimeEnv/imageUri']);
  const denied = (permissions: Permissions) =>
    COMMAND.clusterProblems!({ ...SMALL, runtimeEnv: { pip } }, permissions).map(({ field }) => field);
  assert.deepEqual([denied({}), denied({ runtimeEnv: ['conda', 'pip'] })], [[], []]);
  assert.deepEqual(denied({ runtimeEnv: ['conda'] }), ['/runtimeEnv/pip']);
});
