import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LaunchPlan } from '../../../../src/core/launch-plan.ts';
import type { CommandWork } from '../../../../src/dispatch/clusters/command-runner.ts';
import { createPreflight } from '../../../../src/dispatch/clusters/preflight.ts';
import type { ExperimentSpec } from '../../../../src/engines/registry.ts';
import { compilePlan } from '../../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';
import type { RayWorkerClient, RayWorkerFinding } from '../../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../../src/rpc/status.ts';
import type { PreflightFinding } from '../../../../src/schemas/clusters.ts';

const NODE = { id: 'n', address: '10.0.0.1', alive: true, cpusTotal: 64, gpusTotal: 4 };
const TRAINING: ExperimentSpec = {
  name: 't',
  engine: 'verl-agent',
  recipe: 'qwen2.5_1.5b_alfworld_train',
  rollout: { groupSize: 1 },
};

const CLUSTER_ENV = { HF_HOME: '/shared/huggingface' };

async function look(
  spec: ExperimentSpec | undefined,
  {
    free = 4,
    total = 4,
    asked = [] as RayWorkerFinding[],
    fault = undefined as RayWorkerError | undefined,
  } = {},
) {
  const findings: PreflightFinding[] = [];
  const said: string[] = [];
  let given: LaunchPlan | null | undefined;
  const client = {
    async describe() {
      if (fault) throw fault;
      const nodes = [{ ...NODE, gpusTotal: total, cpusAvailable: 64, gpusAvailable: free }];
      return { version: '1', rayVersion: '2.50.0', nodes };
    },
    async preflight(plan: LaunchPlan | null) {
      given = plan;
      return asked;
    },
  } as unknown as RayWorkerClient;
  const run = createPreflight({
    rayWorkerOf: async () => client,
    envOf: async () => CLUSTER_ENV,
    compile: compilePlan,
  });
  const work: CommandWork = {
    kind: 'preflight',
    cluster: 'fleet',
    tries: 1,
    secret: null,
    warn: () => {},
    request: spec ? resolveSpec(spec) : {},
    signal: new AbortController().signal,
    say: async (line) => void said.push(line),
    found: (more) => void findings.push(...more),
  };
  await run(work);
  return { findings, said, given };
}

const checks = (findings: readonly PreflightFinding[]) =>
  findings.map(({ severity, check }) => `${severity} ${check}`);

test('findings of the spec, the room and the ray-worker are one list, errors first', async () => {
  const asked: RayWorkerFinding[] = [
    { check: 'recipe', severity: 'ok', message: 'fine', remedy: '' },
    { check: 'model', severity: 'error', message: 'not there', remedy: 'copy it' },
  ];
  const { findings, said, given } = await look(TRAINING, { asked });
  assert.deepEqual(checks(findings).slice(0, 3), ['error model', 'warning degenerate-groups', 'ok padding']);
  assert.ok(checks(findings).includes('ok room') && checks(findings).includes('ok recipe'));
  assert.deepEqual(given, compilePlan(resolveSpec(TRAINING).spec, CLUSTER_ENV));
  assert.equal(given?.environment.HF_HOME, '/shared/huggingface');
  assert.match(said.at(-1)!, /^\d+ checks: 1 error, 1 warning, /);
});

test('a spec larger than every node is an error; a spec that must wait is not', async () => {
  const { findings } = await look(TRAINING, { total: 1 });
  assert.match(findings[0]!.message, /There is no room for 2 GPUs on one node and [\d.]+ CPUs/);
  const busy = await look(TRAINING, { free: 0 });
  const room = busy.findings.find(({ check }) => check === 'room');
  assert.match(
    room!.message,
    /^2 GPUs on one node and [\d.]+ CPUs: the cluster is large enough, but is not free now, so the experiment will wait/,
  );
});

test('without a spec, only the cluster is checked', async () => {
  const { findings, given } = await look(undefined);
  assert.deepEqual(checks(findings), ['ok cluster']);
  assert.equal(given, null);
});

test('a silent cluster is a finding beside those of the spec', async () => {
  const { findings } = await look(TRAINING, { fault: new RayWorkerError('unreachable', 'no answer') });
  assert.deepEqual([findings[0]!.severity, findings[0]!.message], ['error', 'no answer']);
  assert.ok(checks(findings).includes('warning degenerate-groups'));
  const old = await look(TRAINING, { fault: new RayWorkerError('invalid', 'UNIMPLEMENTED') });
  assert.match(old.findings[0]!.remedy, /Update the ray-worker/);
});
