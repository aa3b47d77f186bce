import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statusOf } from 'echelon-client/status';
import type { FeedEntry } from '../../../../src/core/events.ts';
import { messageOf } from '../../../../src/dispatch/notifications/match.ts';
import { emptyRuleMemory, evaluateRules } from '../../../../src/plan/evaluate-rules.ts';
import { resolveRules } from '../../../../src/plan/rules.ts';
import type { StoredSubscription } from '../../../../src/store/subscriptions/subscriptions.ts';
import { recordBatch, running, storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });

interface Report {
  exact?: number;
  wrong?: number;
  unverifiable?: number;
  errors: string[];
  isWrong: boolean;
}

/** Reports of one batch: why its signal is wrong, or not. */
const REPORTS: Record<string, Report> = {
  'every row right': { exact: 4, errors: [], isWrong: false },
  'wrong rows': { exact: 2, wrong: 2, errors: ['wrong-rows'], isWrong: true },
  'shuffled rows': { exact: 4, errors: ['steps-out-of-order'], isWrong: true },
  'groups of one': { exact: 4, errors: ['group-size'], isWrong: true },
  'wrong gamma': { exact: 4, errors: ['returns-mismatch'], isWrong: true },
  'an unreadable batch': { unverifiable: 4, errors: ['not-verifiable'], isWrong: false },
  'unverifiable rows': { unverifiable: 4, errors: [], isWrong: false },
};

async function reported(report: Report) {
  const lease = await running(store);
  await recordBatch(store, lease, { batch: 1, data: Buffer.from([1]) });
  const record = (await store.batches.get(lease.experiment, 1, 1))!;
  const { isWrong: _isWrong, errors, ...rows } = report;
  const counts = { exact: 0, rounding: 0, wrong: 0, unverifiable: 0, ...rows };
  const place = { attempt: 1, batch: 1, step: 1, rows: 4 };
  const event = { type: 'verification' as const, ...place, ...counts, errors, ok: false };
  const findings = errors.map((code) => ({ code }));
  await store.batches.report(record, event, { findings, unverifiable: counts.unverifiable });
  const experiment = (await store.experiments.get(lease.experiment))!;
  return { experiment, event, id: lease.experiment };
}

const subscription = { id: 's', since: 0, events: ['wrong-rows'] } as unknown as StoredSubscription;

test('badge, filter, order, default rules and notifications agree on which signal is wrong', async () => {
  const wrong: string[] = [];
  for (const [name, report] of Object.entries(REPORTS)) {
    const { experiment, event, id } = await reported(report);
    if (report.isWrong) wrong.unshift(id);
    const entry = { ...experiment, id: '1', at: 1, experiment: id, event } as unknown as FeedEntry;
    const signals = [{ attempt: 1, at: 1, event }];
    const { fired } = evaluateRules(resolveRules(undefined), { memory: emptyRuleMemory(), signals, now: 0 });
    const said = {
      signal: experiment.verification.signal === 'wrong',
      badge: statusOf({ ...experiment, resolved: {} }).tone === 'wrong',
      rule: fired.length === 1,
      notification: messageOf(subscription, entry, undefined) !== undefined,
    };
    assert.deepEqual(
      new Set(Object.values(said)),
      new Set([report.isWrong]),
      `${name}: ${JSON.stringify(said)}`,
    );
  }
  const listed = await store.experiments.list({ outcome: 'wrong', limit: 20 });
  assert.deepEqual(
    listed.items.map(({ id }) => id),
    wrong,
  );
  const sorted = await store.experiments.list({ limit: 20 }, { by: 'wrong', isDescending: true });
  const signals = sorted.items.map(({ verification }) => verification.signal === 'wrong');
  assert.deepEqual(
    signals.slice(0, wrong.length),
    wrong.map(() => true),
  );
  assert.equal(sorted.items[0]!.verification.wrong, 2);
});
