import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

/** What the command line of the tests asks for. */
export interface TestOptions {
  /** Parts of paths; only files whose path has one of them run. Empty: all. */
  readonly named: readonly string[];
  /** With the files that only the full run has. */
  readonly full: boolean;
  /** Only the files that docs/evidence/attacks.md names, the long ones included. */
  readonly attacks: boolean;
  /** Only what the last run left: files that failed, or that it did not reach. */
  readonly left: boolean;
  /** How many files run at a time. */
  readonly lanes: number;
  /** How often everything runs. */
  readonly rounds: number;
  /** Busy processes beside every second round. */
  readonly load: number;
  /** Continue the rounds of an interrupted command. */
  readonly resume: boolean;
  /** Renew test/times.json. */
  readonly record: boolean;
}

/** A command line that cannot be understood; its message is for the user. */
export class UsageError extends Error {}

/** Most files wait for a part of their time, for Ray, for leases and for timeouts; their recorded times limit them further. */
const LANES = availableParallelism() + 2;

/** What `npm test -- --help` prints. */
export const HELP = `usage: npm test -- [OPTION …] [PATH …]
Runs the test files whose path contains one of PATH, such as pure, service/store or test_spool. Default: all files but those
whose name ends with .full.test.ts or _full.py.

options:
  --full       with the long files: fuzzing, all failpoints, packages, images, other versions of Ray
  --attacks    only the files that docs/evidence/attacks.md names, also the long ones: npm run test:attacks
  --left       run what the last run left: files that failed, or that it did not reach
  --lanes N    run at most N files at a time (default here: ${LANES})
  --repeat N   run everything N times, and print how often each test failed
  --load N     with --repeat: run every second round beside N busy processes
  --resume     continue the rounds of an interrupted --repeat
  --record     write how long each file took to test/times.json, by which the files are scheduled
  --help       print this text

The exit status is 0 if no test has failed, 1 if one has, and 2 if the command line is wrong. No test is ever repeated to let
it pass. A test fails if it leaves a process, a port, a temporary file or an open handle.
The bar for a release: npm test -- --repeat 10 --load 8`;

/** Reads the command line; 'help' if it asks for that. Throws {@link UsageError}. */
export function readOptions(args: readonly string[]): TestOptions | 'help' {
  const { values, positionals } = parsed(args);
  if (values.help) return 'help';
  for (const name of ['load', 'resume'] as const)
    if (values[name] && values.repeat === undefined)
      throw new UsageError(`--${name} concerns the rounds of --repeat, which is missing.`);
  return {
    named: positionals,
    full: values.full,
    attacks: values.attacks,
    left: values.left,
    lanes: numberOf('lanes', values.lanes) ?? LANES,
    rounds: numberOf('repeat', values.repeat) ?? 1,
    load: numberOf('load', values.load) ?? 0,
    resume: values.resume,
    record: values.record,
  };
}

function parsed(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        full: flag,
        attacks: flag,
        left: flag,
        resume: flag,
        record: flag,
        help: { ...flag, short: 'h' },
        lanes: text,
        repeat: text,
        load: text,
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
