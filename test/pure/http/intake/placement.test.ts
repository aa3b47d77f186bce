import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createFitCheck,
  labelProblem,
  type Need,
  neverFits,
  placeProblem,
} from '../../../../src/http/intake/placement.ts';
import type { Cluster } from '../../../../src/store/clusters/types.ts';
import { partialStore } from '../../../support/partial-store.ts';

describe('the place of a spec', () => {
  const all = [{ name: 'fleet', labels: { gpu: 'h100' } }, { name: 'spare' }];
  const store = partialStore({ experiments: { checkpointClusters: () => assert.fail() } });
  const problemOf = (cluster: string | null, clusterLabels: Record<string, string> = {}) =>
    placeProblem(store, { cluster, clusterLabels }, async (name) =>
      all.filter((one) => name === null || one.name === name),
    );

  test('a known cluster, its labels, and no cluster at all are accepted', async () => {
    assert.equal(await problemOf(null), null);
    assert.equal(await problemOf('spare'), null);
    assert.equal(await problemOf('fleet', { gpu: 'h100' }), null);
  });

  test('a spec without cluster and labels reads nothing from the store', async () => {
    assert.equal(await placeProblem(store, { cluster: null, clusterLabels: {} }, () => assert.fail()), null);
  });

  test('an unknown cluster or label is refused with the nearest name or the known ones', async () => {
    const unknown = (await problemOf('fleat'))!;
    assert.deepEqual([unknown.field, /did you mean fleet/.test(unknown.message)], ['/cluster', true]);
    assert.match((await problemOf('elsewhere'))!.message, /known: fleet, spare; leave it out/);
    const labels = (await problemOf('spare', { gpu: 'h100' }))!;
    assert.deepEqual([labels.field, /spare does not have/.test(labels.message)], ['/clusterLabels', true]);
  });
});

describe('labels', () => {
  const clusters = [
    { name: 'a', labels: { gpu: 'h100', zone: 'x' } },
    { name: 'b', labels: { gpu: 'h200' } },
    { name: 'c' },
  ];
  const problem = (clusterLabels: Record<string, string>, cluster: string | null = null) =>
    labelProblem({ cluster, clusterLabels }, clusters)?.message;

  test('labels that one cluster has cause no problem', () => {
    assert.equal(problem({ gpu: 'h100', zone: 'x' }), undefined);
    assert.equal(problem({ gpu: 'h200' }, 'b'), undefined);
  });

  test('labels that no cluster has are refused with the nearest or the known labels', () => {
    assert.equal(problem({ gpu: 'h300' }), 'no cluster has gpu=h300; did you mean gpu=h100?');
    assert.match(
      problem({ gpu: 'h200', zone: 'x' }) ?? '',
      /^no cluster has gpu=h200 and zone=x; known: gpu=h100/,
    );
    assert.match(problem({ gpu: 'h100' }, 'c') ?? '', /^cluster c does not have gpu=h100; known: none/);
  });
});

describe('the cluster of a checkpoint', () => {
  const CLUSTERS = [
    { name: 'a', labels: { gpu: 'h100' } },
    { name: 'b', labels: { gpu: 'h100' } },
    { name: 'c', labels: {} },
  ];
  const reading = (more: object) => ({
    engine: 'verl-agent-export',
    checkpoint: { directory: 'p/run' },
    cluster: null,
    clusterLabels: {},
    ...more,
  });

  /** A store in which experiments have used the checkpoint on `holders`. */
  const store = (...holders: string[]) =>
    partialStore({
      experiments: {
        checkpointClusters: async (directory: string, clusters: readonly string[]) => {
          assert.equal(directory, 'p/run');
          return clusters.filter((name) => holders.includes(name));
        },
      },
    });

  test('a checkpoint that no experiment has reported needs one possible cluster: its own, the only one, or the only one with its labels', async () => {
    const problem = (more: object, clusters = CLUSTERS) =>
      placeProblem(store(), reading(more), async () => clusters);
    assert.match((await problem({}))!.message, /may run on a, b, c\./);
    const labelled = { clusterLabels: { gpu: 'h100' } };
    assert.match((await problem(labelled))!.message, /may run on a, b\./);
    assert.equal(await problem(labelled, CLUSTERS.slice(1)), null);
    assert.equal(await problem({}, CLUSTERS.slice(2)), null);
    assert.equal(await problem({ cluster: 'b' }), null);
    assert.equal(await problem({ engine: 'replay' }), null);
  });

  test('a checkpoint that experiments have reported is read only on their clusters', async () => {
    const problem = (more: object, ...holders: string[]) =>
      placeProblem(store(...holders), reading(more), async () => CLUSTERS);
    assert.deepEqual(await problem({ cluster: 'b' }, 'a', 'c'), {
      field: '/cluster',
      message: 'must be a or c, which has the checkpoints in p/run',
    });
    assert.equal((await problem({}, 'a'))!.field, '/cluster');
    assert.equal(await problem({ cluster: 'c' }, 'a', 'c'), null);
    assert.equal(await problem({ clusterLabels: { gpu: 'h100' } }, 'a', 'b'), null);
  });
});

describe('a need that no node can meet', () => {
  const cluster = (name: string, gpus: number[], labels = {}) =>
    ({
      name,
      labels,
      nodes: gpus.map((gpusTotal, at) => ({
        id: `${name}${at}`,
        gpusTotal,
        cpusTotal: 8,
        gpusUsed: 0,
        cpusUsed: 0,
      })),
    }) as unknown as Cluster;
  const need = (gpus: number, more: Partial<Need> = {}): Need => ({
    cluster: null,
    clusterLabels: {},
    resources: { nodes: 1, gpus, cpus: 1, nodeLabels: {} },
    ...more,
  });

  test('neverFits reports a need if all matching clusters are known and no node is large enough', () => {
    const clusters = [cluster('small', [2, 4]), cluster('large', [8], { zone: 'b' })];
    assert.equal(neverFits(need(8), clusters), null);
    assert.match(neverFits(need(9), clusters) ?? '', /^can never fit: needs 9 GPUs on one node and 1 CPU/);
    const gang = (nodes: number) => need(4, { resources: { nodes, gpus: 4, cpus: 8, nodeLabels: {} } });
    assert.match(neverFits(gang(3), [clusters[1]!]) ?? '', /^can never fit: needs 4 GPUs on each of 3 nodes/);
    assert.match(
      neverFits(need(8, { cluster: 'small' }), clusters) ?? '',
      /cluster small have at most 4 GPUs/,
    );
    assert.equal(neverFits(need(8, { clusterLabels: { zone: 'b' } }), clusters), null);
    assert.equal(
      neverFits(need(9), [...clusters, cluster('unseen', [])]),
      null,
      'its nodes are not known yet',
    );
    assert.equal(neverFits(need(9), []), null);
  });

  test('the fit check warns once for each need, with the number of children', () => {
    const check = createFitCheck();
    for (const gpus of [1, 9, 9, 16]) check.add(need(gpus));
    const warnings = check.warnings([cluster('a', [8])]);
    assert.equal(warnings.length, 2);
    assert.match(warnings[0]!, /^2 children can never fit: needs 9 GPUs/);
    assert.match(warnings[1]!, /^1 child can never fit: needs 16 GPUs/);
  });
});
