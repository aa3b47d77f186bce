import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SCOPES } from '../../../src/core/scopes.ts';
import { acceptExperiment } from '../../../src/http/accept-experiment.ts';
import type { RouteDeps } from '../../../src/http/deps.ts';
import { REPLAY } from '../../support/http-app.ts';
import { coded, storeFor } from '../../support/store.ts';

const { store } = await storeFor({ after });

test('one key of one caller is one experiment with one job, run again or not', async () => {
  const joined: string[] = [];
  const line = { join: async (id: string) => void joined.push(id), queues: [] };
  const deps = { store, line, log: { warn() {} } } as unknown as RouteDeps;
  const caller = { id: 'c', name: 'c', project: null, scopes: SCOPES };
  const first = await acceptExperiment(deps, { caller, spec: REPLAY, key: 'k' });
  assert.deepEqual(await acceptExperiment(deps, { caller, spec: REPLAY, key: 'k' }), first);
  assert.deepEqual(joined, [first.id]);
  const other = await acceptExperiment(deps, { caller: { ...caller, id: 'd' }, spec: REPLAY, key: 'k' });
  assert.notEqual(other.id, first.id);
  const again = { caller, spec: REPLAY, rerunOf: first.id };
  await assert.rejects(acceptExperiment(deps, { ...again, key: 'k' }), coded('idempotency-conflict'));
  const rerun = await acceptExperiment(deps, { ...again, key: 'k2' });
  assert.equal((await store.get(rerun.id))?.rerunOf, first.id);
  await assert.rejects(
    acceptExperiment(deps, { caller, spec: { ...REPLAY, cluster: 'none' }, key: undefined }),
    coded('invalid-spec'),
  );
});
