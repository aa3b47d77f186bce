import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobWords, problemWords } from '../src/slurm-words.ts';

const AT = Date.UTC(2026, 0, 2, 14, 20);
const job = { job: '4711', role: 'node' as const, reason: null, startsAt: null, endsAt: null };

test('a job of Slurm says why it waits and when it is expected, or when it ends', () => {
  const waiting = { ...job, state: 'PENDING', reason: 'Resources', startsAt: AT };
  assert.equal(jobWords(waiting), 'node in Slurm: job 4711 pending Resources, expected 14:20 UTC');
  const running = { ...job, state: 'RUNNING', startsAt: 1, endsAt: AT };
  assert.equal(jobWords(running), 'node in Slurm: job 4711 running until 14:20 UTC');
  assert.equal(jobWords({ ...job, job: null, state: 'asked' }), 'node in Slurm: job not known yet asked');
});

test('what is wrong with Slurm is said with the time of the next request', () => {
  assert.equal(problemWords({ problem: null, waitsUntil: AT }), null);
  assert.equal(problemWords({ problem: 'no', waitsUntil: null }), 'no');
  assert.equal(problemWords({ problem: 'no', waitsUntil: AT }), 'no; asked again at 14:20 UTC');
});
