import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQuotas, NO_QUOTAS } from '../../../src/scheduler/quotas.ts';
import { waits } from '../../support/queue.ts';

const quotas = (used: number, gpuQuota: number | null) =>
  createQuotas(new Map([['p', { gpus: used, cpus: 0 }]]), () => ({ weight: 1, gpuQuota }));

test('an experiment that would exceed the quota is refused with the held number of GPUs', () => {
  const of = quotas(6, 8);
  assert.equal(of.refusal(waits('x', 2)), null);
  of.take(waits('x', 2));
  assert.equal(of.refusal(waits('y', 1)), 'needs 1 GPU; project p holds 8 of the 8 that it may hold');
});

// Without this a stream of small ones of the same project would take every GPU that a large one waits for.
test('only experiments without GPUs pass an experiment of their project that waits for the quota', () => {
  const of = quotas(6, 8);
  assert.match(of.refusal(waits('large', 4)) ?? '', /^needs 4 GPUs/);
  assert.equal(of.refusal(waits('small', 1)), 'waits for large, which waits for the GPU quota of project p');
  assert.equal(of.refusal(waits('cpus', 0)), null);
});

test('an experiment larger than the quota gets that reason and delays no other', () => {
  const of = quotas(0, 8);
  assert.match(
    of.refusal(waits('huge', 9)) ?? '',
    /^can never start: needs 9 GPUs, and project p may hold 8/,
  );
  assert.equal(of.refusal(waits('small', 1)), null);
});

test('the GPUs of a blocked head are reserved within the quota', () => {
  const of = quotas(2, 8);
  of.reserve(waits('next', 4));
  assert.equal(of.refusal(waits('x', 2)), null);
  assert.match(
    of.refusal(waits('y', 3)) ?? '',
    /holds 2 of the 8 that it may hold and 4 are reserved for experiments before it/,
  );
});

test('a project without a quota is never refused', () => {
  assert.equal(quotas(1000, null).refusal(waits('x', 1000)), null);
  assert.equal(NO_QUOTAS.refusal(waits('x', 1000)), null);
});
