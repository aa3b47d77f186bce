import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SCOPES } from '../../../src/core/scopes.ts';
import { acceptExperiment, type Submission } from '../../../src/http/accept-experiment.ts';
import type { RouteDeps } from '../../../src/http/server/deps.ts';
import type { AuditInput } from '../../../src/store/access/contract.ts';
import { REPLAY } from '../../support/http-app.ts';
import { coded, storeFor } from '../../support/store.ts';

const { store } = await storeFor({ after });
const caller = { id: 'c', name: 'c', project: null, scopes: SCOPES };

function entry(target: string): AuditInput {
  const did = { action: 'submitExperiment', target, status: 202, outcome: 'done' as const };
  const by = { caller: caller.id, name: caller.name, project: null, requestId: 'r', address: '127.0.0.1' };
  return { ...did, ...by, code: null, note: null };
}

/** Accepts through a line that notes who joins it. */
function accepting() {
  const joined: string[] = [];
  const line = { join: async (id: string) => void joined.push(id), queues: [] };
  const deps = { store, line, log: { warn() {} } } as unknown as RouteDeps;
  const accept = (submission: Partial<Submission> & Pick<Submission, 'key'>) =>
    acceptExperiment(deps, { caller, spec: REPLAY, audit: entry, ...submission });
  return { accept, joined };
}

test('one key of one caller is one experiment with one job, run again or not', async () => {
  const { accept, joined } = accepting();
  const { accepted, created } = await accept({ key: 'k' });
  assert.equal(created, true);
  assert.deepEqual(await accept({ key: 'k' }), { accepted, created: false });
  assert.deepEqual(joined, [accepted.id]);
  const { accepted: other } = await accept({ key: 'k', caller: { ...caller, id: 'd' } });
  assert.notEqual(other.id, accepted.id);
  await assert.rejects(accept({ key: 'k', rerunOf: accepted.id }), coded('idempotency-conflict'));
  const { accepted: rerun } = await accept({ key: 'k2', rerunOf: accepted.id });
  assert.equal((await store.get(rerun.id))?.rerunOf, accepted.id);
});

test('what is made is in the audit log with it, once; what is refused or repeated is not', async () => {
  const { accept } = accepting();
  const before = (await store.auditLog(1000, undefined)).length;
  const { accepted } = await accept({ key: 'audited' });
  await accept({ key: 'audited' });
  await assert.rejects(accept({ key: 'audited', rerunOf: accepted.id }), coded('idempotency-conflict'));
  const unknown = { ...REPLAY, cluster: 'none' };
  await assert.rejects(accept({ key: undefined, spec: unknown }), coded('invalid-spec'));
  const entries = await store.auditLog(1000, undefined);
  assert.equal(entries.length, before + 1);
  const { id: _id, at, ...written } = entries[0]!;
  assert.deepEqual(written, entry(accepted.id));
  // Redis reads its clock twice in the step.
  assert.ok(Math.abs(at - (await store.get(accepted.id))!.submittedAt) < 1_000);
});
