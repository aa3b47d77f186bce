import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { CheckpointReference } from '../../../src/engines/checkpoint-reference.ts';
import { projectDirectory } from '../../../src/engines/project-directory.ts';
import { type ExperimentSpec, engineOf } from '../../../src/engines/registry.ts';
import { VerlAgentExportSpec } from '../../../src/engines/verl-agent-export/spec.ts';

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
