import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelProblem } from '../../../../../src/http/resources/plans/label-problem.ts';

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
