// A dispatcher as a process of its own, for tests that kill or freeze it. Run by startDispatcherProcess.
import { createInterface } from 'node:readline';
import { createDispatcher } from '../../src/dispatch/dispatcher.ts';
import { AGREEING, compileTestSpec, connectTo, TEST_TIMES, until } from './dispatch.ts';
import { createLineLog } from './kept-log.ts';

const setup = JSON.parse(process.argv[2] ?? '{}') as {
  url: string;
  archive: string;
  id: string;
  leaseMs: number;
  holdBeforeLaunch: boolean;
};

const say = (word: string) => process.stdout.write(`${word}\n`);
const { store, line, close } = connectTo(setup, setup.archive);
const toldToLaunch = Promise.withResolvers<void>();

const dispatcher = createDispatcher({
  store,
  line,
  verifier: AGREEING,
  compile: compileTestSpec,
  log: createLineLog((text) => console.error(text)),
  id: setup.id,
  ...TEST_TIMES,
  leaseMs: setup.leaseMs,
  hooks: {
    async beforeLaunch() {
      if (!setup.holdBeforeLaunch) return;
      say('before-launch');
      await toldToLaunch.promise;
    },
  },
});
const told = createInterface({ input: process.stdin });
// The test is gone, however it ended.
told.on('close', () => process.exit(1));
told.on('line', (word) => {
  if (word === 'launch') toldToLaunch.resolve();
  if (word === 'report-idle')
    void until(() => dispatcher.stats().attempts === 0, 'nothing is in hand').then(() => say('idle'));
});
await dispatcher.start();
process.on('SIGTERM', async () => {
  await dispatcher.stop({ handOver: true });
  await close();
  process.exit(0);
});
say('ready');
