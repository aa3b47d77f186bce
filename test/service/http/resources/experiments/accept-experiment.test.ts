import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SCOPES } from '../../../../../src/core/scopes.ts';
import {
  acceptExperiment,
  type Submission,
} from '../../../../../src/http/resources/experiments/accept-experiment.ts';
import type { RouteDeps } from '../../../../../src/http/server/deps.ts';
import type { AuditInput } from '../../../../../src/store/access/audit.ts';
import { REPLAY } from '../../../../support/http-app.ts';
import { coded, storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
const caller = { id: 'c', name: 'c', project: null, scopes: SCOPES };

function entry(target: string): AuditInput {
  const did = { action: 'submitExperiment', target, status: 202, outcome: 'done' as const };
  const by = { caller: caller.id, name: caller.name, project: null, requestId: 'r', address: '127.0.0.1' };
  return { ...did, ...by, code: null, note: null };
}

/** `acceptExperiment` with a queue that records the enqueued ids. */
function accepting() {
  const enqueued: string[] = [];
  const queue = { enqueue: async (ids: readonly string[]) => void enqueued.push(...ids), queues: [] };
  const deps = { store, queue, log: { warn() {} } } as unknown as RouteDeps;
  const accept = (submission: Partial<Submission>) =>
    acceptExperiment(deps, { caller, spec: REPLAY, idempotency: undefined, audit: entry, ...submission });
  return { accept, enqueued };
}

test('two submissions with one Idempotency-Key create one experiment with one job', async () => {
  const { accept, enqueued } = accepting();
  const idempotency = { name: 'k', digest: 'd' };
  const { accepted, created } = await accept({ idempotency });
  assert.equal(created, true);
  assert.deepEqual(await accept({ idempotency }), { accepted, created: false });
  assert.deepEqual(enqueued, [accepted.id]);
  const other = { idempotency: { name: 'k', digest: 'e' }, rerunOf: accepted.id };
  await assert.rejects(accept(other), coded('idempotency-conflict'));
  const { accepted: rerun } = await accept({
    idempotency: { name: 'k2', digest: 'd' },
    rerunOf: accepted.id,
  });
  assert.equal((await store.experiments.get(rerun.id))?.rerunOf, accepted.id);
});

test('a created experiment has one audit entry from the same script, and a refused or repeated submission has none', async () => {
  const { accept } = accepting();
  const before = (await store.audit.page(1000, undefined)).length;
  const idempotency = { name: 'audited', digest: 'd' };
  const { accepted } = await accept({ idempotency });
  await accept({ idempotency });
  const other = { idempotency: { ...idempotency, digest: 'e' }, rerunOf: accepted.id };
  await assert.rejects(accept(other), coded('idempotency-conflict'));
  const unknown = { ...REPLAY, cluster: 'none' };
  await assert.rejects(accept({ spec: unknown }), coded('invalid-spec'));
  const entries = await store.audit.page(1000, undefined);
  assert.equal(entries.length, before + 1);
  const { id: _id, at, ...written } = entries[0]!;
  assert.deepEqual(written, entry(accepted.id));
  // The script reads the clock of Redis twice.
  assert.ok(Math.abs(at - (await store.experiments.get(accepted.id))!.submittedAt) < 1_000);
});
