import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { SUITES, type Suite } from './suites.ts';

/** What the command line of the tests asks for. */
export interface TestOptions {
  readonly suites: readonly Suite[];
  /** How many suites run at a time. */
  readonly lanes: number;
  /** How often all suites run. */
  readonly rounds: number;
  /** Busy processes beside every second round. */
  readonly load: number;
}

/** A command line that cannot be understood; its message is for the user. */
export class UsageError extends Error {}

/** Two more than there are cores: most suites wait for a part of their time, for Ray, for leases and for timeouts. */
const LANES = availableParallelism() + 2;

/** What `npm test -- --help` prints. */
export const HELP = `usage: npm test -- [OPTION …] [SUITE …]
Runs the named suites, each once. Default: all suites but full. A name such as unit stands for every suite below it.

options:
  --full       with the suite full, if no suite is named
  --lanes N    run N suites at a time (default here: ${LANES})
  --repeat N   run everything N times, and print how often each test failed
  --load N     with --repeat: run every second round beside N busy processes
  --help       print this text

suites: ${SUITES.map(({ name }) => name).join(', ')}

The exit status is 0 if no test has failed, 1 if one has, and 2 if the command line is wrong. No test is ever repeated to let
it pass. The bar for a release: npm test -- --repeat 10 --load 8`;

/** Reads the command line; 'help' if it asks for that. Throws {@link UsageError}. */
export function readOptions(args: readonly string[]): TestOptions | 'help' {
  const { values, positionals } = parsed(args);
  if (values.help) return 'help';
  if (values.load !== undefined && values.repeat === undefined)
    throw new UsageError('--load counts for every second round, so it needs --repeat.');
  return {
    suites: suitesOf(positionals, values.full),
    lanes: numberOf('lanes', values.lanes) ?? LANES,
    rounds: numberOf('repeat', values.repeat) ?? 1,
    load: numberOf('load', values.load) ?? 0,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        full: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        lanes: { type: 'string' },
        repeat: { type: 'string' },
        load: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} is ${text}; it must be a whole number from 1 to 9999.`);
}

function suitesOf(named: readonly string[], full: boolean): readonly Suite[] {
  const means = (name: string, suite: Suite): boolean =>
    suite.name === name || suite.name.startsWith(`${name}/`);
  const unknown = named.filter((name) => !SUITES.some((suite) => means(name, suite)));
  if (unknown.length > 0)
    throw new UsageError(
      `No suite is named ${unknown.join(', ')}; there are ${SUITES.map(({ name }) => name).join(', ')}.`,
    );
  return SUITES.filter((suite) =>
    named.length > 0 ? named.some((name) => means(name, suite)) : suite.name !== 'full' || full,
  );
}
