import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { newExperimentId } from '../../../src/core/ids.ts';
import { CheckpointReference, referenceProblems } from '../../../src/engines/checkpoint-reference.ts';
import { isBelow, projectDirectory } from '../../../src/engines/directories.ts';
import { type ExperimentSpec, engineOf } from '../../../src/engines/registry.ts';
import { VerlAgentExportSpec } from '../../../src/engines/verl-agent-export/engine.ts';
import { createCheck } from '../../../src/schemas/check.ts';

const compiled = (spec: object) => {
  const engine = engineOf((spec as ExperimentSpec).engine);
  return JSON.stringify(engine.compile!(engine.resolve(spec as ExperimentSpec)));
};
const EXPORT = { ...engineOf('verl-agent-export').example, output: 'mine' };

/* Fails if the same training of two projects has one directory: the second would resume the first. */
test('trainings, evaluations and exports of a project read and write below its own directories', () => {
  const { example: training, recipes } = engineOf('verl-agent');
  const { name } = recipes!.all.find(({ phase }) => phase === 'eval')!;
  const checkpoint = { directory: 'recipe/name-hash', step: 5 };
  const evaluation = { ...recipes!.spec(name), evaluation: { checkpoint } };
  for (const spec of [training, evaluation, EXPORT]) {
    const [first, second] = ['default', 'vision'].map((project) => compiled({ ...spec, project })) as [
      string,
      string,
    ];
    assert.ok(!first.includes('_projects'));
    const moved = first.replaceAll(/\{sharedRoot\}\/(checkpoints|exports)\//g, '$&_projects/vision/');
    assert.notEqual(moved, first);
    assert.equal(second, moved);
  }
  assert.equal(projectDirectory('exports', 'default'), '{sharedRoot}/exports');
});

test('a spec of the project default cannot name the directories of other projects', () => {
  for (const directory of [
    '_projects/vision',
    '_projects/vision/a/b',
    '../_projects',
    'a/../_projects',
    './_projects',
  ]) {
    assert.ok(!Value.Check(CheckpointReference, { directory }), directory);
    assert.ok(!Value.Check(VerlAgentExportSpec, { ...EXPORT, output: directory }), directory);
  }
});

test('a path is below a directory only by whole names, and never with ..', () => {
  for (const path of ['/srv', '/srv/', '/srv/a', '/srv//a/./b'])
    assert.ok(isBelow(path, ['/x', '/srv']), path);
  for (const path of ['/srv2', 'srv', '/', '/srv/../etc', '']) assert.ok(!isBelow(path, ['/srv']), path);
  assert.ok(!isBelow('/srv', []));
});

test('a reference accepts the id of an experiment and a directory of two names, and nothing that leads elsewhere', () => {
  const check = createCheck(CheckpointReference);
  assert.deepEqual(check({ experiment: newExperimentId(), step: 3 }), []);
  assert.deepEqual(check({ directory: 'project/k2_x-0123456789' }), []);
  for (const directory of ['x', '/a/b', '../b', 'a/..', 'a/b/c'])
    assert.equal(check({ directory }).length, 1);
  for (const experiment of ['', 'swp-0123456789abcdefghjk', 'exp-1'])
    assert.equal(check({ experiment }).length, 1);
});

test('a reference that was not completed needs a directory and no training beside it', () => {
  const fields = (reference: CheckpointReference) =>
    referenceProblems(reference, '/checkpoint').map(({ field }) => field);
  const experiment = newExperimentId();
  assert.deepEqual(fields({ directory: 'a/b' }), []);
  assert.deepEqual(fields({ step: 1 }), ['/checkpoint']);
  assert.deepEqual(fields({ experiment }), ['/checkpoint/experiment']);
  assert.deepEqual(fields({ experiment, directory: 'a/b' }), ['/checkpoint/experiment']);
  const [problem] = referenceProblems({ experiment, directory: 'a/b' }, '');
  assert.match(problem!.message, /contradicts directory/);
});
