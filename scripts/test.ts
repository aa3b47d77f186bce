// Runs the test files, several at a time, once or repeatedly; `npm test -- --help` says how.
import { availableParallelism } from 'node:os';
import { measureCpu } from './test/cpu.ts';
import { attackFiles, findItems, type Item } from './test/items.ts';
import type { Outcome } from './test/lanes.ts';
import { readLeft, writeLeft } from './test/left.ts';
import { startLoad } from './test/load.ts';
import { HELP, readOptions, type TestOptions, UsageError } from './test/options.ts';
import { failureText, skippedLines, totalLine } from './test/report.ts';
import { type Round, readRounds, roundLines, writeRounds } from './test/rounds.ts';
import { runItems } from './test/run-items.ts';
import { readTimes, type Time, writeTimes } from './test/times.ts';

function chooseItems({ named, attacks, left, full }: TestOptions): Item[] {
  const every = findItems({ full: full || attacks || named.some((part) => part.includes('full')) });
  const attacked = attacks ? attackFiles() : every.map(({ name }) => name);
  const all = every.filter(({ name }) => attacked.includes(name));
  const isNamed = ({ name }: Item, parts: readonly string[]): boolean =>
    parts.some((part) => name.includes(part));
  const unknown = named.filter((part) => !all.some((item) => isNamed(item, [part])));
  if (unknown.length > 0) throw new UsageError(`No test file has ${unknown.join(' or ')} in its path.`);
  const chosen = named.length === 0 ? all : all.filter((item) => isNamed(item, named));
  if (!left) return chosen;
  const remaining = readLeft();
  return chosen.filter(({ name }) => remaining.includes(name));
}

/** Runs all items once, and prints what became of them. */
async function runRound(items: readonly Item[], options: TestOptions, isLoaded: boolean): Promise<Round> {
  const begun = Date.now();
  const cpu = measureCpu();
  const measured = new Map<string, Time>();
  const remaining = new Set(items.map(({ name }) => name));
  writeLeft([...remaining]);
  const outcomes = await runItems(items, {
    timeOf: readTimes(),
    capacity: { cores: availableParallelism(), items: options.lanes },
    ...(options.record && { onTime: (item: Item, time: Time) => void measured.set(item.name, time) }),
    onOutcome({ item, failures }) {
      if (failures.length === 0) remaining.delete(item.name);
      writeLeft([...remaining]);
    },
  });
  if (options.record) writeTimes(measured, findItems({ full: true }));
  const round: Round = {
    isLoaded,
    seconds: Math.round((Date.now() - begun) / 1000),
    cpuSeconds: Math.round(cpu.used()),
    busy: cpu.busy(),
    passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
    failed: outcomes.flatMap(({ failures }) => failures.map(({ title }) => title)),
  };
  printEnd(outcomes, round);
  return round;
}

function printEnd(outcomes: readonly Outcome[], { seconds, cpuSeconds, busy }: Round): void {
  const failed = outcomes.filter(({ failures }) => failures.length > 0);
  for (const outcome of failed) console.log(`\n${failureText(outcome)}`);
  const slowest = outcomes.toSorted((a, b) => b.seconds - a.seconds).slice(0, 5);
  console.log(
    `\nslowest: ${slowest.map((one) => `${one.item.name} ${Math.round(one.seconds)} s`).join(', ')}`,
  );
  for (const line of skippedLines(outcomes)) console.log(line);
  if (failed.length > 0) console.log('only the failed files again: npm test -- --left');
  console.log(`${outcomes.length} files in ${seconds} s, ${cpuSeconds} CPU-s, cores ${busy} % busy`);
  console.log(totalLine(outcomes));
}

/** Runs all rounds; true if no test has failed. */
async function runRounds(items: readonly Item[], options: TestOptions): Promise<boolean> {
  const rounds = options.resume ? readRounds() : [];
  while (rounds.length < options.rounds) {
    const busy = rounds.length % 2 === 1 ? options.load : 0;
    const beside = busy > 0 ? `, beside ${busy} busy processes` : '';
    if (options.rounds > 1) console.log(`\n##### round ${rounds.length + 1} of ${options.rounds}${beside}`);
    using _load = startLoad(busy);
    rounds.push(await runRound(items, options, busy > 0));
    if (options.rounds > 1) writeRounds(rounds);
  }
  if (options.rounds > 1) console.log(`\n${roundLines(rounds).join('\n')}`);
  return rounds.every(({ failed }) => failed.length === 0);
}

function chosenOrExit(): [readonly Item[], TestOptions] {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options !== 'help') return [chooseItems(options), options];
    console.log(HELP);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message} Run \`npm test -- --help\` for the options.`);
    process.exit(2);
  }
}

const [items, options] = chosenOrExit();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    console.log(`\ninterrupted; ${readLeft().length} files are left: npm test -- --left`);
    process.exit(1);
  });
if (items.length === 0) console.log('The last run left no file.');
process.exit((await runRounds(items, options)) ? 0 : 1);
