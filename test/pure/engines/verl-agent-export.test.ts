import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specProblems } from '../../../src/engines/validate-spec.ts';
import {
  VERL_AGENT_EXPORT,
  type VerlAgentExportSpec,
} from '../../../src/engines/verl-agent-export/engine.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const DIRECTORY = 'qwen2.5_7b_webshop_train/k2_hgpo-0123456789';
const EXPORT: VerlAgentExportSpec = {
  engine: 'verl-agent-export',
  name: 'x',
  checkpoint: { directory: DIRECTORY },
};

test('the plan of an export names the checkpoint and the output below the shared root, and takes no GPU', () => {
  const plan = compilePlan(resolveSpec(EXPORT).spec);
  assert.equal(plan.module, 'echelon_rayworker.engines.verl_agent_export');
  assert.deepEqual([plan.gpus, plan.cpus], [0, 4]);
  const derived = (spec: VerlAgentExportSpec) =>
    VERL_AGENT_EXPORT.compile!(VERL_AGENT_EXPORT.resolve(spec)).plan;
  const checkpointDirectory = `{sharedRoot}/checkpoints/${DIRECTORY}`;
  assert.deepEqual(derived(EXPORT), { checkpointDirectory, output: '' });
  const output = '{sharedRoot}/exports/mine/last';
  assert.deepEqual(derived({ ...EXPORT, output: 'mine/last' }), { checkpointDirectory, output });
});

test('an export takes CPUs by the size of its model, 4 if the size is unknown, and as many as the spec asks for', () => {
  const cpus = (directory: string, more: Partial<VerlAgentExportSpec> = {}) =>
    resolveSpec({ ...EXPORT, checkpoint: { directory }, ...more }).spec.resources.cpus;
  assert.equal(cpus('qwen2.5_1.5b_alfworld_train/x'), 2);
  assert.equal(cpus(DIRECTORY), 4);
  assert.equal(cpus('mine-72B/x'), 16);
  assert.equal(cpus('mine/x'), 4);
  assert.equal(cpus(DIRECTORY, { resources: { cpus: 1 } }), 1);
});

test('an export states the disk space and memory that it takes if the size of its model is known', () => {
  const checks = (directory: string) => {
    const { spec, defaults } = resolveSpec({ ...EXPORT, checkpoint: { directory } });
    assert.ok(spec.engine === 'verl-agent-export');
    return VERL_AGENT_EXPORT.check!({ spec, defaults }).map(({ message }) => message);
  };
  assert.match(checks(DIRECTORY)[0]!, /15\.2 GB of disk space, and up to 60\.9 GB of memory/);
  assert.deepEqual(checks('mine/x'), []);
});

test('an export needs a checkpoint directory', () => {
  assert.throws(() => resolveSpec({ ...EXPORT, checkpoint: {} }), {
    problems: [
      { field: '/checkpoint', message: 'names no training; set experiment to the id of one, or directory' },
    ],
  });
});

const fields = (more: object) =>
  specProblems({
    engine: 'verl-agent-export',
    name: 'x',
    checkpoint: { directory: 'p/run' },
    ...more,
  }).map(({ field }) => field);

test('an export is stored below the directory of exports, and uses no GPU', () => {
  assert.deepEqual(fields({ output: 'team/model-1.5b' }), []);
  for (const output of ['', '/models', '../models', 'a/../../b', '.hidden', 'a b'])
    assert.deepEqual(fields({ output }), ['/output'], output);
  assert.deepEqual(fields({ resources: { gpus: 1 } }), ['/resources/gpus']);
});
