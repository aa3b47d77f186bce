import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterView, ExperimentDetail } from '../../src/schemas/api.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import { type SlurmHere, slurmHere, whyNoSlurm } from '../support/slurm/slurm.ts';

const BIN = resolve(import.meta.dirname, '../../.venv/bin');
const WITHIN_MS = 240_000;

describe('Slurm brings the nodes of a cluster', { skip: whyNoSlurm() }, () => {
  let slurm: SlurmHere;
  let spec: string;
  before(async () => {
    slurm = slurmHere({ nodes: 2, gpus: 2 });
    slurm.start('echelon', 'up');
    await until('the api answers', async () => (await slurm.echelon('ls')).code === 0);
    spec = join(slurm.folder, 'spec.json');
    await add('gpu');
    await until('the head is registered', async () => (await cluster()).answering);
  });
  after(async () => {
    await slurm?.login('sh', '-c', 'kill "$(cat ~/.echelon/pid 2>/dev/null)"');
    slurm?.down();
  });

  const add = async (partition: string, gpus = 2) => {
    const place = [
      '--partition',
      partition,
      '--node-type',
      `gpus=${gpus},cpus=2,max=2`,
      '--bin',
      BIN,
      '--notice',
      '60',
    ];
    const limits = ['--time', '30', '--idle', '10', '--head-partition', 'gpu'];
    const root = ['--shared-root', join(slurm.folder, 'shared')];
    const { code, output } = await slurm.echelon(
      'clusters',
      'add-slurm',
      'fleet',
      ...place,
      ...limits,
      ...root,
    );
    assert.equal(code, 0, output);
  };
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, output } = await slurm.echelon(...args, '--json');
    assert.equal(code, 0, output);
    return JSON.parse(output) as T;
  };
  const cluster = async (): Promise<ClusterView> =>
    (await json<{ items: ClusterView[] }>('clusters')).items.find(({ name }) => name === 'fleet')!;
  const jobs = async (role: 'head' | 'node') =>
    (await cluster()).slurm!.jobs.filter((one) => one.role === role);
  const get = (id: string) => json<ExperimentDetail>('get', id);

  async function submit(seconds: number, resources: object = { gpus: 1, cpus: 1 }): Promise<string> {
    const command = ['sh', '-c', `sleep ${seconds}`];
    writeFileSync(
      spec,
      JSON.stringify({ engine: 'command', name: 'x', cluster: 'fleet', command, resources }),
    );
    return (await json<Experiment>('submit', spec)).id;
  }

  const noNodes = () => until('no node is left', async () => (await jobs('node')).length === 0);
  const reaches = (id: string, state: string) =>
    until(`${id} is ${state}`, async () => (await get(id)).state === state);

  test('two experiments run in one allocation, and it is given back when it is idle', async () => {
    const ids = [await submit(5), await submit(5)];
    await until('a job is asked for', async () => (await jobs('node')).length > 0);
    for (const id of ids) await reaches(id, 'succeeded');
    assert.equal((await jobs('node')).length, 1);
    await noNodes();
    assert.equal(
      (await slurm.login('squeue', '-h', '-n', 'echelon-fleet-node', '-o', '%i')).output.trim(),
      '',
    );
  });

  test('a job that is cancelled from outside ends no experiment and counts as no fault', async () => {
    const id = await submit(40);
    await reaches(id, 'running');
    const { job } = (await jobs('node'))[0]!;
    await slurm.login('scancel', job!);
    await until('the next attempt runs', async () => {
      const { attempt, state } = await get(id);
      return attempt === 2 && state === 'running';
    });
    const { attempts } = await json<{ attempts: { ended: { cause: string } | null }[] }>('get', id);
    assert.equal(attempts[0]?.ended?.cause, 'allocation-ended');
    await reaches(id, 'succeeded');
  });

  test('a preempted job is named so, and jobs of others are left alone', async () => {
    const foreign = [
      'sbatch',
      '--parsable',
      '--job-name=echelon-fleet-node',
      '--time=20',
      '--wrap=sleep 600',
    ];
    const mine = (await slurm.login(...foreign, '--mem=100')).output.trim();
    const id = await submit(60);
    await reaches(id, 'running');
    const urgent = [
      'sbatch',
      '--parsable',
      '--partition=urgent',
      '--gpus-per-node=2',
      '--nodes=2',
      '--time=1',
    ];
    await slurm.login(...urgent, '--mem=100', '--wrap=sleep 20');
    await until('the attempt has ended', async () => (await get(id)).attempt === 2);
    const { attempts } = await json<{ attempts: { ended: { cause: string } | null }[] }>('get', id);
    assert.equal(attempts[0]?.ended?.cause, 'preempted');
    assert.match((await slurm.login('squeue', '-h', '-j', mine, '-o', '%T')).output, /RUNNING|PENDING/);
    await slurm.echelon('cancel', id);
    await slurm.login('scancel', mine);
  });

  test('what Slurm refuses is shown, and is asked for again later', async () => {
    await noNodes();
    await add('nowhere');
    const id = await submit(1);
    await until('the refusal is shown', async () =>
      /nowhere|partition/i.test((await cluster()).slurm!.problem ?? ''),
    );
    await until('it waits', async () => (await cluster()).slurm!.waitsUntil !== null);
    assert.match((await get(id)).waitReason ?? '', /asked Slurm for 1 node/);
    await add('gpu');
    await reaches(id, 'succeeded');
  });

  test('a node type that no node of the partition has is stated, and not asked for', async () => {
    await noNodes();
    await add('gpu', 64);
    const id = await submit(1);
    await until('the sizes of the partition are shown', async () =>
      /asks for 64 GPUs and 2 CPUs.* at most 2 GPUs/.test((await cluster()).slurm!.problem ?? ''),
    );
    assert.deepEqual(await jobs('node'), []);
    await add('gpu');
    await reaches(id, 'succeeded');
  });

  test('an experiment of two nodes gets them in one job', async () => {
    await noNodes();
    const id = await submit(5, { gpus: 2, cpus: 4, nodes: 2 });
    await until('a job is asked for', async () => (await jobs('node')).length > 0);
    const { job } = (await jobs('node'))[0]!;
    await reaches(id, 'succeeded');
    assert.equal((await jobs('node')).length, 1);
    assert.equal((await slurm.login('squeue', '-h', '-j', job!, '-o', '%D')).output.trim(), '2');
    await noNodes();
  });

  test('while the controller is away, nothing is cancelled or asked for', async () => {
    const id = await submit(45);
    await reaches(id, 'running');
    const controller = (await slurm.login('pgrep', '-x', 'slurmctld')).output.trim();
    await slurm.login('kill', '-STOP', controller);
    await until('the silence is shown', async () => (await cluster()).slurm!.problem !== null);
    await slurm.login('kill', '-CONT', controller);
    await until('Slurm answers again', async () => (await cluster()).slurm!.problem === null);
    await reaches(id, 'succeeded');
    assert.equal((await get(id)).attempt, 1);
  });

  test('a cluster that is removed leaves no job', async () => {
    const { code, output } = await slurm.echelon('clusters', 'delete', 'fleet', '--wait');
    assert.equal(code, 0, output);
    await until(
      'no job is left',
      async () => (await slurm.login('squeue', '-h', '-o', '%i')).output.trim() === '',
    );
    // Slurm drains a node on which a process of a job stays.
    assert.doesNotMatch((await slurm.login('sinfo', '-h', '-o', '%T')).output, /drain|down/);
  });
});

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WITHIN_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${WITHIN_MS / 1_000} s`);
    await sleep(1_000);
  }
}
