import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { newSubscriptionId } from '../../../../src/core/ids.ts';
import { createNotifications } from '../../../../src/dispatch/notifications/notifications.ts';
import { ratesOf } from '../../../../src/dispatch/notifications/rates.ts';
import type { SubscriptionInput } from '../../../../src/schemas/subscription.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeProjects } from '../../../support/access.ts';
import { QUIET, submit, until } from '../../../support/dispatch.ts';
import {
  HOOK_SECRET,
  notificationsTo,
  type Received,
  receiverFor,
  secretsFor,
} from '../../../support/notifications.ts';
import { storeFor } from '../../../support/store.ts';

const NO_JOBS = { enqueue: async () => {} } as never;

interface Setup {
  secrets?: Record<string, string>;
  settings?: Parameters<typeof notificationsTo>[2];
  times?: object;
}

/** A store, and a process that sends the notifications of its feed. */
async function sending(t: TestContext, { secrets, settings, times }: Setup = {}) {
  const releases: (() => Promise<void>)[] = [];
  const { store, redis } = await storeFor({ after: (release) => void releases.push(release) });
  const deps = notificationsTo(redis, await secretsFor(t, secrets), settings);
  const sender = createNotifications({ store, log: QUIET, everyMs: 50, ...deps, ...times });
  t.after(async () => {
    await sender.stop();
    await deps.queue.close();
    for (const release of releases) await release();
  });
  sender.start();
  return { store, redis };
}

async function subscribe(store: Store, input: SubscriptionInput): Promise<string> {
  const id = newSubscriptionId();
  await store.subscriptions.add({ project: 'default', ...input, id, createdBy: 'test' });
  return id;
}

const hook = (url: string, input: Partial<SubscriptionInput> = {}): SubscriptionInput => ({
  events: ['state'],
  target: { kind: 'webhook', url, secret: 'hook' },
  ...input,
});

const submitTo = (store: Store, options = {}) => submit({ store, queue: NO_JOBS }, {}, options);
const statesOf = (received: readonly Received[]) => received.map(({ body }) => body.data.to);

test('a webhook gets each event once in order, signed as Standard Webhooks asks', async (t) => {
  const { store } = await sending(t);
  const receiver = await receiverFor(t);
  await submitTo(store);
  const subscription = await subscribe(store, hook(receiver.url));
  const id = await submitTo(store);
  await store.experiments.cancel(id, 'enough');
  await until(() => receiver.received.length >= 2, 'both messages arrive');
  assert.deepEqual(statesOf(receiver.received), ['queued', 'cancelled']);
  const { headers, text, body } = receiver.received[1]!;
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  const key = Buffer.from(HOOK_SECRET.slice(6), 'base64');
  const signature = createHmac('sha256', key).update(signed).digest('base64');
  assert.equal(headers['webhook-signature'], `v1,${signature}`);
  assert.equal(body.type, 'state');
  assert.equal(body.data.experiment, id);
  assert.equal(body.data.reason, 'enough');
  const { items, pending, dead } = await until(async () => {
    const found = await store.subscriptions.deliveries(subscription);
    return found.items.length === 2 && found;
  }, 'both are listed');
  assert.deepEqual([items.map(({ outcome }) => outcome), pending, dead], [['delivered', 'delivered'], 0, []]);
});

test('a failing receiver gets the same message again with the same id before the next one', async (t) => {
  const { store } = await sending(t);
  const tried: unknown[] = [];
  const receiver = await receiverFor(t, ({ headers }, count) => {
    tried.push(headers['webhook-id']);
    return [500, 302, 503][count - 1] ?? 204;
  });
  await subscribe(store, hook(receiver.url));
  const id = await submitTo(store);
  await store.experiments.cancel(id, 'enough');
  await until(() => receiver.received.length === 2, 'both arrive');
  assert.deepEqual(statesOf(receiver.received), ['queued', 'cancelled']);
  assert.equal(new Set(tried.slice(0, 4)).size, 1);
});

test('a receiver is asked again after its Retry-After, but not after a longer time than the longest wait', async (t) => {
  const HOUR = 3_600_000;
  const times = { retry: { firstMs: 1_000, longestMs: HOUR } };
  const { store, redis } = await sending(t, { times });
  const waits = ['40', new Date(Date.now() + 90_000).toUTCString(), '99999999', '0', 'soon'];
  const answers: number[] = [];
  const receiver = await receiverFor(t, (_request, count) => {
    const header = waits[count - 1];
    answers.push(Date.now());
    return header === undefined ? 200 : { status: 503, headers: { 'retry-after': header } };
  });
  const id = await subscribe(store, hook(receiver.url));
  await submitTo(store);
  const bounds = [
    [40_000, 60_000],
    [60_000, 90_000],
    [HOUR, HOUR],
    // No time, so that the own waits hold: 27 s and 81 s, and up to a fifth more.
    [27_000, 33_000],
    [81_000, 98_000],
  ] as const;
  for (const [at, [min, max]] of bounds.entries()) {
    const nextAt = await until(async () => {
      const found = await store.subscriptions.deliveries(id);
      return found.items.length === at + 1 && found.nextAt;
    }, `answer ${at}`);
    const wait = nextAt - answers[at]!;
    // The answer is recorded a little after it was given.
    assert.ok(wait >= min - 2_000 && wait <= max + 10_000, `${waits[at]}: ${wait} ms`);
    await redis.zadd('{echelon}:deliveries', 1, id);
  }
  await until(() => receiver.received.length === 1, 'it arrives');
});

test('a receiver that answers 410 gets nothing more until the subscription is enabled again, and then everything in order', async (t) => {
  const { store, redis } = await sending(t);
  let gone = true;
  let asked = 0;
  const receiver = await receiverFor(t, () => {
    asked += 1;
    return gone ? 410 : 200;
  });
  const other = await receiverFor(t);
  const subscription = await subscribe(store, hook(receiver.url));
  await subscribe(store, hook(other.url));
  const id = await submitTo(store);
  const deliveries = () => store.subscriptions.deliveries(subscription);
  await until(async () => (await deliveries()).disabled, 'it is disabled');
  await store.experiments.cancel(id, 'enough');
  await until(() => other.received.length === 2, 'the other subscription has both');
  const { items, pending, nextAt, disabled } = await deliveries();
  assert.equal(disabled, 'the receiver answered with the status 410: it wants no further message');
  assert.deepEqual([items.map(({ outcome }) => outcome), pending, nextAt], [['gone'], 2, null]);
  assert.deepEqual(await store.subscriptions.due(Number(await redis.time().then(([s]) => s)) * 1000), []);
  assert.equal(asked, 1);
  gone = false;
  assert.equal(await store.subscriptions.resend(subscription), 2);
  await until(() => receiver.received.length === 2, 'both arrive');
  assert.deepEqual(statesOf(receiver.received), ['queued', 'cancelled']);
  assert.equal((await deliveries()).disabled, null);
});

test('a receiver that never answers delays no other subscription', async (t) => {
  const { store } = await sending(t);
  const release = Promise.withResolvers<number>();
  t.after(() => release.resolve(200));
  const slow = await receiverFor(t, () => release.promise);
  const quick = await receiverFor(t);
  for (let count = 0; count < 8; count += 1) await subscribe(store, hook(slow.url));
  await subscribe(store, hook(quick.url));
  for (let count = 0; count < 5; count += 1) await submitTo(store);
  await until(() => quick.received.length === 5, 'the other receiver has all');
  assert.equal(slow.received.length, 0);
});

test('an undelivered message becomes a dead letter and can be sent again with its id', async (t) => {
  const { store } = await sending(t, { times: { giveUpMs: 100 } });
  const receiver = await receiverFor(t);
  await receiver.stop();
  const subscription = await subscribe(store, hook(receiver.url));
  await submitTo(store);
  const { dead, pending } = await until(async () => {
    const found = await store.subscriptions.deliveries(subscription);
    return found.dead.length === 1 && found;
  }, 'it is dead');
  assert.equal(pending, 0);
  await receiver.start();
  assert.equal(await store.subscriptions.resend(subscription), 1);
  await until(() => receiver.received.length === 1, 'it arrives');
  assert.equal(receiver.received[0]!.headers['webhook-id'], dead[0]!.message);
  assert.deepEqual((await store.subscriptions.deliveries(subscription)).dead, []);
});

test('an address that is not public is refused, however the URL writes it', async (t) => {
  const { store } = await sending(t);
  const reasons = async (url: string) => {
    const id = await subscribe(store, hook(url));
    await submitTo(store);
    return await until(
      async () => (await store.subscriptions.deliveries(id)).items[0]?.reason,
      `${url} is tried`,
    );
  };
  for (const url of [
    'http://127.0.0.2/',
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'http://[::ffff:7f00:2]/',
    'http://0x7f000002/',
  ])
    assert.match(await reasons(url), /is not public; the operator can allow it/, url);
});

test('only events that pass the filter are sent', async (t) => {
  const { store } = await sending(t);
  const receiver = await receiverFor(t);
  await subscribe(store, hook(receiver.url, { states: ['cancelled'], tags: ['night'] }));
  const [tagged, other] = [await submitTo(store), await submitTo(store)];
  await store.experiments.annotate(tagged, { tags: ['night'] });
  for (const id of [other, tagged]) await store.experiments.cancel(id, 'enough');
  await until(() => receiver.received.length > 0, 'a message arrives');
  assert.deepEqual(
    receiver.received.map(({ body }) => body.data.experiment),
    [tagged],
  );
});

test('an experiment that is queued for too long causes one message, and one that left the queue causes none', async (t) => {
  const { store, redis } = await sending(t);
  const receiver = await receiverFor(t);
  await subscribe(store, hook(receiver.url, { events: ['waiting'], waitMinutes: 5 }));
  const [queued, left] = [await submitTo(store), await submitTo(store)];
  await until(async () => (await redis.zcard('{echelon}:waits')) === 2, 'both wait');
  await store.experiments.cancel(left, 'enough');
  await until(async () => (await redis.zcard('{echelon}:waits')) === 1, 'one has left');
  const [[member]] = [await redis.zrange('{echelon}:waits', '0', '-1')];
  await redis.zadd('{echelon}:waits', 1, member!);
  await until(() => receiver.received.length > 0, 'the message arrives');
  assert.deepEqual(
    receiver.received.map(({ body }) => [body.type, body.data.experiment]),
    [['waiting', queued]],
  );
});

test('deleted entries of a feed are stated as a gap before the next message', async (t) => {
  const { store, redis } = await sending(t);
  const receiver = await receiverFor(t);
  await subscribe(store, hook(receiver.url));
  await redis.hincrby('{echelon}:feeds', 'p:default', 7);
  await submitTo(store);
  await until(() => receiver.received.length === 2, 'both arrive');
  assert.deepEqual(
    receiver.received.map(({ body }) => [body.type, body.data.dropped ?? null]),
    [
      ['gap', 7],
      ['state', null],
    ],
  );
});

// No process sends here: each delivery would make room in the outbox.
test('a full outbox counts the messages that it drops, and states them as a gap once it has room', async (t) => {
  const { store } = await storeFor(t);
  const id = await subscribe(store, hook('https://example.com/'));
  const message = { id: 'm', type: 'test', at: 1, data: {} };
  const messages = Array.from({ length: 5_005 }, () => ({ subscription: id, message, everyMs: 0 }));
  await store.subscriptions.advance({ project: 'default', read: null, messages, waits: [] });
  const { pending, dropped } = await store.subscriptions.deliveries(id);
  assert.deepEqual([pending, dropped], [5_000, 5]);
  const deliver = async (most: number) => {
    const delivery = await store.subscriptions.begin(id, most, []);
    await store.subscriptions.end(delivery!, { outcome: 'delivered', waitMs: 0, reason: null });
    return delivery!.messages.map(({ type, data }) => [type, data.dropped ?? null]);
  };
  await deliver(4_999);
  assert.deepEqual(await deliver(10), [
    ['test', null],
    ['gap', 5],
  ]);
  assert.equal((await store.subscriptions.deliveries(id)).dropped, 0);
});

test('a project has 5,000 pending messages, and a subscription its own 300 whatever the others have', async (t) => {
  const { store } = await storeFor(t);
  const ids = [];
  for (let at = 0; at < 16; at += 1) ids.push(await subscribe(store, hook('https://example.com/')));
  const send = (to: readonly string[], count: number) => {
    const message = { id: 'm', type: 'test', at: 1, data: {} };
    const messages = Array.from({ length: count }, () =>
      to.map((one) => ({ subscription: one, message, everyMs: 0 })),
    );
    return store.subscriptions.advance({
      project: 'default',
      read: null,
      messages: messages.flat(),
      waits: [],
    });
  };
  // What one cancelled sweep of 4,750 children did.
  for (let part = 0; part < 5; part += 1) await send(ids, 950);
  const pending = await Promise.all(
    ids.map(async (id) => (await store.subscriptions.deliveries(id)).pending),
  );
  assert.equal(
    pending.reduce((sum, one) => sum + one),
    5_000,
  );
  const late = await storeFor(t);
  const [greedy, other] = [
    await subscribe(late.store, hook('https://a.example/')),
    await subscribe(late.store, hook('https://b.example/')),
  ];
  for (const [to, count] of [
    [greedy, 5_100],
    [other, 310],
  ] as const) {
    const message = { id: 'm', type: 'test', at: 1, data: {} };
    const messages = Array.from({ length: count }, () => ({ subscription: to, message, everyMs: 0 }));
    await late.store.subscriptions.advance({ project: 'default', read: null, messages, waits: [] });
  }
  const shown = await late.store.subscriptions.deliveries(other);
  assert.deepEqual([shown.pending, shown.dropped], [300, 10]);
});

test('deliveries above a rate wait for it, and those of another project do not', async (t) => {
  const { store, redis } = await storeFor(t);
  await makeProjects(store, 'other');
  const url = 'https://example.com/hook';
  const ids = [await subscribe(store, hook(url)), await subscribe(store, hook(`${url}?again`))];
  const foreign = await subscribe(store, hook(url, { project: 'other' }));
  const message = { id: 'm', type: 'test', at: 1, data: {} };
  const begun = async (id: string) => {
    const { project } = (await store.subscriptions.get(id))!;
    await store.subscriptions.advance({
      project,
      read: null,
      messages: [{ subscription: id, message, everyMs: 0 }],
      waits: [],
    });
    const delivery = await store.subscriptions.begin(id, 1, ratesOf((await store.subscriptions.get(id))!));
    if (delivery) await store.subscriptions.end(delivery, { outcome: 'delivered', waitMs: 0, reason: null });
    return delivery !== undefined;
  };
  let count = 0;
  while (count < 1_000 && (await begun(ids[count % 2]!))) count += 1;
  assert.ok(count >= 300 && count < 400, `${count} deliveries`);
  const held = ids[count % 2]!;
  const now = Number((await redis.time())[0]) * 1000;
  const { pending, nextAt, items } = await store.subscriptions.deliveries(held);
  assert.ok(nextAt! > now - 1_000 && nextAt! < now + 5_000, `${nextAt}`);
  assert.deepEqual([pending, items[0]!.outcome], [1, 'delivered']);
  assert.ok(await begun(foreign));
});

test('a chat gets 60 messages at once, and the next ones at the pace of its rate', async (t) => {
  const slack = await receiverFor(t);
  const { store } = await sending(t, { secrets: { slack: slack.url } });
  const id = await subscribe(store, { events: ['state'], target: { kind: 'slack', secret: 'slack' } });
  const message = { id: 'm', type: 'test', at: 1, data: {} };
  const messages = Array.from({ length: 200 }, () => ({ subscription: id, message, everyMs: 0 }));
  await store.subscriptions.advance({ project: 'default', read: null, messages, waits: [] });
  // Without a rate, the next message is always due at once.
  await until(async () => {
    const { nextAt } = await store.subscriptions.deliveries(id);
    return nextAt !== null && nextAt > Date.now() + 50;
  }, 'the rate is used up');
  const sent = slack.received.length;
  assert.ok(sent >= 60 && sent < 200, `${sent} messages`);
  await until(() => slack.received.length > sent, 'the next one is sent');
});

test('a silent cluster is recorded once for each silence', async (t) => {
  const { store, redis } = await sending(t);
  const receiver = await receiverFor(t);
  await subscribe(store, hook(receiver.url, { events: ['cluster-silent'] }));
  await redis.hset('{echelon}:clusters:seen', 'fleet', '{"lastSeenAt":1000}');
  assert.equal(await store.clusters.noteSilent('fleet'), true);
  assert.equal(await store.clusters.noteSilent('fleet'), false);
  await until(() => receiver.received.length === 1, 'the message arrives');
  assert.deepEqual(receiver.received[0]!.body.data, {
    project: 'default',
    experiment: null,
    name: 'fleet',
    sweep: null,
    since: 1000,
  });
});

test('Slack and Teams get a text that contains no mention', async (t) => {
  const slack = await receiverFor(t);
  const teams = await receiverFor(t);
  const { store } = await sending(t, { secrets: { slack: slack.url, teams: teams.url } });
  for (const kind of ['slack', 'teams'] as const)
    await subscribe(store, { events: ['state'], states: ['cancelled'], target: { kind, secret: kind } });
  const id = await submitTo(store);
  await store.experiments.cancel(id, '<!channel> & "all"\u202e');
  await until(() => slack.received.length + teams.received.length === 2, 'both arrive');
  const url = `https://echelon.example/experiments/${id}`;
  const told = `test (${id}) is cancelled: `;
  const { text } = slack.received[0]!.body as unknown as { text: string };
  assert.ok(text.startsWith(`${told}&lt;!channel&gt; &amp; "all"`) && text.endsWith(` <${url}|Open>`), text);
  assert.ok(!text.includes('\u202e'));
  assert.ok(teams.received[0]!.text.includes(`"type":"TextRun","text":"${told}<!channel> & `));
  assert.ok(teams.received[0]!.text.includes(url));
});

test('an e-mail goes to no domain that the operator has withdrawn, and the reason says so', async (t) => {
  const settings = { smtpUrl: 'smtp://127.0.0.1:1', smtpFrom: 'echelon@example.com' };
  const { store } = await sending(t, { settings });
  const target = { kind: 'email', to: ['a@example.com', 'b@example.com.evil.test'] } as const;
  const id = await subscribe(store, { events: ['state'], target: { ...target, to: [...target.to] } });
  await submitTo(store);
  const reason = await until(
    async () => (await store.subscriptions.deliveries(id)).items[0]?.reason,
    'it is tried',
  );
  assert.equal(reason, 'ECHELON_MAIL_DOMAINS does not have the domain of b@example.com.evil.test');
});

test('e-mails have all messages of their time, and a repetition has the same id', async (t) => {
  const mails: string[] = [];
  let refused = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      let text = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      stream.on('end', () => {
        mails.push(text);
        refused += 1;
        done(refused === 1 ? new Error('try again') : null);
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as { port: number };
  const settings = { smtpUrl: `smtp://127.0.0.1:${port}`, smtpFrom: 'Echelon <echelon@example.com>' };
  const { store, redis } = await sending(t, { settings });
  const id = await subscribe(store, { events: ['state'], target: { kind: 'email', to: ['ml@example.com'] } });
  const first = await submitTo(store);
  await until(() => mails.length === 2, 'the first e-mail arrives at the second attempt');
  await until(async () => (await store.subscriptions.deliveries(id)).pending === 0, 'its delivery has ended');
  const idOf = (mail: string) => /^Message-ID: (.*)$/im.exec(mail)?.[1];
  assert.equal(idOf(mails[0]!), idOf(mails[1]!));
  assert.match(mails[1]!, /^Subject: \[default\] test \(exp-/m);
  for (const reason of ['one', 'two']) await store.experiments.cancel(await submitTo(store), reason);
  await until(async () => (await store.subscriptions.deliveries(id)).pending === 4, 'four messages wait');
  const due = Number(await redis.zscore('{echelon}:deliveries', id));
  const sentAt = Number(await redis.hget(`{echelon}:subscription:${id}`, 'sentAt'));
  assert.equal(due - sentAt, 600_000);
  await redis.zadd('{echelon}:deliveries', 1, id);
  await until(() => mails.length === 3, 'the digest arrives');
  assert.equal(mails[2]!.match(/ is (queued|cancelled)/g)?.length, 5);
  assert.ok(!mails[2]!.includes(first));
});
