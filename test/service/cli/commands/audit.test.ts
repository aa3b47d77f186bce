import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { auditTable } from '../../../../src/cli/commands/access.ts';
import type { AuditEntry } from '../../../../src/schemas/audit.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const { store, connection } = await apiFor({ after });
const ENTRY: AuditEntry = {
  id: '1-1',
  at: 0,
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
};

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['audit', ...argv, ...connection])) };
}

test('the log is shown over its pages, filtered', async () => {
  assert.match((await run('--action', 'none')).output.lines.join(), /No entries match/);
  const { id: _id, at: _at, ...input } = ENTRY;
  for (let at = 0; at < 250; at += 1) await store.audit.record({ ...input, target: `t${at % 2}` });
  assert.equal((await run('-n', '240', '--json')).output.json<{ items: unknown[] }>().items.length, 240);
  assert.equal(
    (await run('--target', 't1', '-n', '1000', '--json')).output.json<{ items: unknown[] }>().items.length,
    125,
  );
  assert.match((await run('-n', '1')).output.lines.join('\n'), /a key +k +cancelExperiment +t1 +done/);
});

test('what others sent is inert', () => {
  const text = auditTable([
    { ...ENTRY, caller: null, target: '\u001b[2J', outcome: 'refused', code: 'unauthenticated', status: 401 },
  ]);
  assert.ok(!text.includes('\u001b[2J'));
  assert.match(text, /1970-01-01 00:00:00 +a key +- +cancelExperiment +\\u001b\[2J +refused unauthenticated/);
});
