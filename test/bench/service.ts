import { fork } from 'node:child_process';
import { once } from 'node:events';
import { type Figure, figureTable, isMet, setupOf } from './harness.ts';

/*
 * What the service promises of its speed, beside the bare primitives, in one go. Each arm is a bench that also runs alone, here
 * in a process of its own so that none warms or fills another.
 */

const ARMS: Readonly<Record<string, readonly string[]>> = {
  submit: ['--rounds', '5', '--seconds', '3'],
  sweep: ['--rounds', '3'],
  dispatch: ['--rounds', '5'],
  running: ['--counts', '1000', '--dispatchers', '1'],
  store: ['--only', 'depth', '--rounds', '7'],
  estimate: [],
};

const HELP = `usage: npm run bench -- service [NAME …]
Runs each arm, or those that are named, and prints every figure with its target; takes about five minutes.
arms: ${Object.entries(ARMS)
  .map(([name, args]) => [name, ...args].join(' '))
  .join(', ')}
Each also runs alone: npm run bench -- NAME [arguments]`;

/** `--help`, or names of arms (all). The exit status is 1 if an arm fails or a target is missed. */
export async function run(args: readonly string[]): Promise<void> {
  if (args.some((arg) => !Object.hasOwn(ARMS, arg))) {
    console.log(HELP);
    if (!args.includes('--help')) process.exitCode = 2;
    return;
  }
  const figures: Figure[] = [];
  for (const name of args.length === 0 ? Object.keys(ARMS) : args) {
    console.log(`\n${[name, ...ARMS[name]!].join(' ')}`);
    const arm = fork(new URL('main.ts', import.meta.url), [name, ...ARMS[name]!]);
    arm.on('message', (figure: Figure) => figures.push(figure));
    const [status] = (await once(arm, 'exit')) as [number | null];
    if (status !== 0) {
      console.log(`${name} ended with status ${status}`);
      process.exitCode = 1;
    }
  }
  console.log(`\n${figureTable(figures)}\n\n${await setupOf()}`);
  if (!figures.every(isMet)) process.exitCode = 1;
}
