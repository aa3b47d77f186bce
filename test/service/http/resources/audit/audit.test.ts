import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { AuditInput } from '../../../../../src/store/access/audit.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });
const { call } = await appFor({ after }, { store });
const entry = (changes: Partial<AuditInput>): AuditInput => ({
  caller: 'k',
  name: 'a key',
  project: null,
  action: 'cancelExperiment',
  target: 't',
  status: 202,
  outcome: 'done',
  code: null,
  requestId: 'r',
  address: '::1',
  note: null,
  ...changes,
});
const read = async (query: string) => {
  const response = await call('GET', `/v1/audit?${query}`);
  assert.equal(response.statusCode, 200, response.body);
  return response.json() as { items: { target: string }[]; next: string | null };
};

test('the audit log is paged from the newest entry, and filtered by caller, action and target', async () => {
  for (let at = 0; at < 7; at += 1) {
    await store.audit.record(entry({ target: `t${at}`, caller: at % 2 ? 'odd' : 'even' }));
  }
  await store.audit.record(entry({ action: 'createKey', target: 'key' }));
  const targets: string[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page = await read(`limit=3&action=cancelExperiment${next === '' ? '' : `&cursor=${next}`}`);
    targets.push(...page.items.map(({ target }) => target));
    next = page.next;
  }
  assert.deepEqual(targets, ['t6', 't5', 't4', 't3', 't2', 't1', 't0']);
  assert.deepEqual(
    (await read('caller=odd&limit=2')).items.map(({ target }) => target),
    ['t5', 't3'],
  );
  assert.equal((await read('target=key')).items.length, 1);
  assert.equal((await read('target=key&caller=odd')).items.length, 0);
});

test('the audit log continues after a page that was cut short, even if few entries match the filter', async () => {
  for (let from = 0; from < 6000; from += 500) {
    await Promise.all(Array.from({ length: 500 }, () => store.audit.record(entry({ caller: 'busy' }))));
  }
  const first = await read('caller=even');
  assert.equal(first.items.length, 0);
  assert.equal((await read(`caller=even&cursor=${first.next}`)).items.length, 4);
});

test('an audit cursor of another filter is refused', async () => {
  const { next } = await read('caller=busy&limit=1');
  assert.equal((await call('GET', `/v1/audit?caller=odd&cursor=${next}`)).json().code, 'invalid-cursor');
});
