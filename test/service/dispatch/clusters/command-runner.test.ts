import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newCommandId } from '../../../../src/core/ids.ts';
import { type CommandWork, createCommandRunner } from '../../../../src/dispatch/clusters/command-runner.ts';
import { SetupError } from '../../../../src/dispatch/clusters/setup/problems.ts';
import type { Store } from '../../../../src/store/store.ts';
import { QUIET, until } from '../../../support/dispatch.ts';
import { type Scope, storeFor } from '../../../support/store.ts';

async function bench(scope: Scope) {
  const { store } = await storeFor(scope);
  // Released at the end of the test's block, before the store of `scope`.
  const resources = new AsyncDisposableStack();
  return {
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
    store,
    /** A dispatcher's share in the commands. */
    start(dispatcher: string, run: (work: CommandWork) => Promise<void>, leaseMs = 600) {
      const commands = createCommandRunner({
        store,
        run,
        dispatcher,
        leaseMs,
        everyMs: 50,
        log: QUIET,
      });
      commands.loop.start();
      resources.defer(async () => {
        await commands.loop.stop();
        await commands.stop(200);
      });
      return commands;
    },
  };
}

async function create(store: Store, cluster = 'a'): Promise<string> {
  const id = newCommandId();
  await store.commands.create({ id, cluster, kind: 'drain', request: { a: 1 }, secret: 's' });
  return id;
}

const over = (store: Store, id: string) =>
  until(async () => {
    const command = await store.commands.get(id);
    return command?.endedAt ? command : undefined;
  }, `${id} is over`);

const FINDINGS = [{ severity: 'ok', check: 'x', message: 'fine', remedy: '' }] as const;

test('a command runs once with two dispatchers', async (t) => {
  await using parts = await bench(t);
  const { store, start } = parts;
  const works: unknown[] = [];
  const run = async ({ say, warn, found, signal, ...work }: CommandWork) => {
    works.push(work);
    await say('done');
    warn('open', 'close it');
    found(FINDINGS);
    assert.ok(!signal.aborted);
  };
  start('one', run);
  start('two', run);
  const id = await create(store);
  const { state, report, problems, findings } = await over(store, id);
  assert.deepEqual([state, report, findings], ['succeeded', ['done'], FINDINGS]);
  assert.deepEqual(problems, [{ severity: 'warning', message: 'open', remedy: 'close it' }]);
  assert.deepEqual(works, [{ kind: 'drain', request: { a: 1 }, secret: 's', tries: 1, cluster: 'a' }]);
});

test('an error of a command is reported as its problem', async (t) => {
  await using parts = await bench(t);
  const { store, start } = parts;
  start('one', async () => {
    throw new SetupError('so', 'do this');
  });
  const { state, problems } = await over(store, await create(store));
  assert.deepEqual([state, problems], ['failed', [{ severity: 'error', message: 'so', remedy: 'do this' }]]);
});

test('a command of a stopping dispatcher is begun again by another one, and the first changes nothing', async (t) => {
  await using parts = await bench(t);
  const { store, start } = parts;
  const begun = Promise.withResolvers<CommandWork>();
  const hang = (work: CommandWork) =>
    new Promise<void>((_resolve, reject) => {
      begun.resolve(work);
      work.signal.addEventListener('abort', () => reject(work.signal.reason));
    });
  const first = start('one', hang);
  const id = await create(store);
  const work = await begun.promise;
  assert.equal(first.active(), 1);
  start('two', async ({ say }) => say('by two'));
  await first.loop.stop();
  await first.stop(200);
  await assert.rejects(work.say('late'));
  const { state, report } = await over(store, id);
  assert.deepEqual([state, report], ['succeeded', ['by two']]);
});

test('a command of a dead dispatcher is begun again after its lease, and given up after some tries', async (t) => {
  await using parts = await bench(t);
  const { store, start } = parts;
  const id = await create(store);
  for (let tries = 1; tries <= 5; tries += 1)
    assert.equal((await store.commands.claim({ id, dispatcher: 'dead', leaseMs: 0 })).outcome, 'claimed');
  start('two', async () => assert.fail('it was tried again'));
  const { state, problems } = await over(store, id);
  assert.equal(state, 'failed');
  assert.match(problems[0]!.message, /given up after 5 tries/);
});
