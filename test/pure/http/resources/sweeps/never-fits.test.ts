import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFitCheck, type Need, neverFits } from '../../../../../src/http/resources/sweeps/never-fits.ts';
import type { Cluster } from '../../../../../src/store/clusters/contract.ts';

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
  resources: { nodes: 1, gpus, cpus: 1 },
  ...more,
});

test('neverFits reports a need if all matching clusters are known and no node is large enough', () => {
  const clusters = [cluster('small', [2, 4]), cluster('large', [8], { zone: 'b' })];
  assert.equal(neverFits(need(8), clusters), null);
  assert.match(neverFits(need(9), clusters) ?? '', /^can never fit: needs 9 GPUs on one node and 1 CPU/);
  const gang = (nodes: number) => need(4, { resources: { nodes, gpus: 4, cpus: 8 } });
  assert.match(neverFits(gang(3), [clusters[1]!]) ?? '', /^can never fit: needs 4 GPUs on each of 3 nodes/);
  assert.match(neverFits(need(8, { cluster: 'small' }), clusters) ?? '', /cluster small have at most 4 GPUs/);
  assert.equal(neverFits(need(8, { clusterLabels: { zone: 'b' } }), clusters), null);
  assert.equal(neverFits(need(9), [...clusters, cluster('unseen', [])]), null, 'its nodes are not known yet');
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
