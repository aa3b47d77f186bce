// Runs the test suites, several at a time, once or repeatedly; `npm test -- --help` says how.
import { startLoad } from './test/load.ts';
import { HELP, readOptions, type TestOptions, UsageError } from './test/options.ts';
import { network, outcomeOf, type Result, run, running, seconds, show } from './test/run-suite.ts';
import type { Suite } from './test/suites.ts';
import { createTally } from './test/tally.ts';

const PROGRESS_MS = 60_000;

async function runAll(chosen: readonly Suite[], lanes: number): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...chosen];
  const lane = async (): Promise<void> => {
    for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift())
      results.push(await run(suite, lanes === 1));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Runs all suites once; gives the tests that failed, each with its reason. */
async function runRound({ suites, lanes }: TestOptions): Promise<string[]> {
  const begun = Date.now();
  const results = await runAll(suites, network === undefined ? 1 : Math.min(suites.length, lanes));
  const failed = results.flatMap((result) => result.failed);
  if (failed.length > 0) console.log(`\nFailed:\n${failed.map((line) => `  ${line}`).join('\n')}`);
  console.log(`\n${results.map(outcomeOf).join('\n')}\nall in ${seconds(begun)} s`);
  return failed;
}

/** Runs all suites as often as asked; true if no test has failed. */
async function runRounds(options: TestOptions): Promise<boolean> {
  const { rounds, load } = options;
  if (rounds === 1) return (await runRound(options)).length === 0;
  const tally = createTally();
  for (let round = 1; round <= rounds; round += 1) {
    const busy = round % 2 === 0 ? load : 0;
    console.log(`\n##### round ${round} of ${rounds}${busy > 0 ? `, beside ${busy} busy processes` : ''}`);
    using _load = startLoad(busy);
    tally.add(await runRound(options), busy > 0);
  }
  const lines = tally.lines();
  console.log(`\n${lines.length === 0 ? `No test failed in ${rounds} rounds.` : lines.join('\n')}`);
  return lines.length === 0;
}

function optionsOrExit(): TestOptions {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options !== 'help') return options;
    console.log(HELP);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message} Run \`npm test -- --help\` for the options.`);
    process.exit(2);
  }
}

const options = optionsOrExit();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    for (const [name, output] of running) show(name, output);
    process.exit(1);
  });
const started = Date.now();
const progress = setInterval(
  () => console.log(`... ${seconds(started)} s; running: ${[...running.keys()].join(', ')}`),
  PROGRESS_MS,
);
const isGood = await runRounds(options);
clearInterval(progress);
process.exit(isGood ? 0 : 1);
