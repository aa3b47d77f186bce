// A dispatcher as a process of its own, for tests that kill or freeze it. Run by startDispatcherProcess.
import { createDispatcher } from '../../src/dispatch/dispatcher.ts';
import { AGREEING, compileTestSpec, connectTo, QUIET, TEST_TIMES, until } from './dispatch.ts';

const setup = JSON.parse(process.argv[2] ?? '{}') as {
  url: string;
  archive: string;
  id: string;
  holdBeforeLaunch: boolean;
};

const say = (word: string) => process.stdout.write(`${word}\n`);
const { store, line, close } = connectTo(setup, setup.archive);
const heard = new Set<string>();
let onWord = () => {};
process.stdin.on('data', (chunk) => {
  for (const word of String(chunk).split('\n')) heard.add(word);
  onWord();
});

const dispatcher = createDispatcher({
  store,
  line,
  verifier: AGREEING,
  compile: compileTestSpec,
  log: QUIET,
  id: setup.id,
  ...TEST_TIMES,
  hooks: {
    async beforeLaunch() {
      if (!setup.holdBeforeLaunch) return;
      say('before-launch');
      while (!heard.has('launch'))
        await new Promise<void>((resolve) => {
          onWord = resolve;
        });
      void until(() => dispatcher.stats().attempts === 0, 'nothing is in hand').then(() => say('idle'));
    },
    async afterLaunch() {
      say('after-launch');
    },
  },
});
await dispatcher.start();
process.on('SIGTERM', async () => {
  await dispatcher.stop({ handOver: true });
  await close();
  process.exit(0);
});
say('ready');
