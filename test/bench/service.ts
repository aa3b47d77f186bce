import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { table } from 'echelon-verify/cli/table';
import { machine, today } from './harness.ts';

/*
 * What the service promises of its speed, each beside the bare primitive, in one go. Each arm is a bench that also runs
 * alone (`npm run bench -- NAME`), here in a process of its own so that none warms or fills another; what it says of a
 * figure is taken from its own words.
 */

/** A figure of an arm: where its words say it, and what it has to be; without a target it is shown beside the others. */
interface Wanted {
  what: string;
  says: RegExp;
  target?: string;
  isMet?(value: number): boolean;
}

interface Arm {
  /** Name of the bench. */
  name: string;
  args: readonly string[];
  figures: readonly Wanted[];
}

const atLeast = (least: number, unit = '') => ({
  target: `≥ ${least}${unit}`,
  isMet: (value: number) => value >= least,
});
const atMost = (most: number, unit = '') => ({
  target: `≤ ${most}${unit}`,
  isMet: (value: number) => value <= most,
});
const DEPTH = [
  ['claim and end', 'claim and end'],
  ['cancel', 'cancel'],
  ['page', 'page of 50'],
  ['page of a state', 'page of 50 of a state'],
] as const;

const ARMS: readonly Arm[] = [
  {
    name: 'submit',
    args: ['--rounds', '5', '--seconds', '3'],
    figures: [
      { what: 'durable submit, 50 connections, of a no-op', says: /ratio to a no-op:/, ...atLeast(0.4) },
      { what: 'durable submit, 50 connections, p99', says: /p99 of a submission, ms:/, ...atMost(25, ' ms') },
      { what: 'the same at 1,000/s, p99', says: /p99 of a submission at 1000 a second, ms:/ },
    ],
  },
  {
    name: 'sweep',
    args: ['--rounds', '3'],
    figures: [
      {
        what: '1,000 submissions, one after another / one sweep of 1,000',
        says: /ratio single submissions, one after another \/ POST of the sweep:/,
        ...atLeast(20, ' ×'),
      },
      {
        what: 'the same until every child is in the queue',
        says: /ratio single submissions, one after another \/ and until every child is in the queue:/,
      },
      {
        what: '1,000 submissions, 50 at a time / one sweep of 1,000',
        says: /ratio single submissions, 50 at a time \/ POST of the sweep:/,
      },
    ],
  },
  {
    name: 'dispatch',
    args: ['--rounds', '5'],
    figures: [
      {
        what: '202 → Launch received at 50/s, p99',
        says: /202 → Launch received at \S+, p99, ms:/,
        ...atMost(25, ' ms'),
      },
    ],
  },
  {
    name: 'store',
    args: ['--only', 'depth', '--rounds', '7'],
    figures: DEPTH.map(([what, words]) => ({
      what: `${what} at depth 10⁵ / at 10³`,
      says: new RegExp(`^${words} at depth 100000, ratio to depth 1000 \\(time\\):`, 'm'),
      ...atMost(1.5, ' ×'),
    })),
  },
  {
    name: 'estimate',
    args: [],
    figures: [
      {
        what: 'estimates of 10⁴ queued experiments',
        says: /estimates of 10000 queued experiments, ms:/,
        ...atMost(100, ' ms'),
      },
    ],
  },
];

const HELP = `usage: npm run bench -- service [NAME …]
Runs each arm, or those that are named, and says at the end which promise was met; takes about five minutes.
arms: ${ARMS.map(({ name, args }) => ['', name, ...args].join(' ').trim()).join(', ')}
Each also runs alone: npm run bench -- NAME [arguments]`;

/** `--help`, or names of arms (all). The exit status is 1 where a promise was not met. */
export async function run(args: readonly string[]): Promise<void> {
  const unknown = args.filter((arg) => !ARMS.some(({ name }) => name === arg));
  if (unknown.length > 0) {
    console.log(HELP);
    if (!args.includes('--help')) process.exitCode = 2;
    return;
  }
  const chosen = ARMS.filter(({ name }) => args.length === 0 || args.includes(name));
  const rows: string[][] = [];
  for (const [index, arm] of chosen.entries()) {
    console.log(`\n[${index + 1}/${chosen.length}] ${arm.name} ${arm.args.join(' ')}`);
    const began = performance.now();
    const words = await wordsOf(arm);
    console.log(`(${Math.round((performance.now() - began) / 1000)} s)`);
    rows.push(...arm.figures.map((figure) => judged(figure, words)));
  }
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(`\n${table(['figure', 'target', 'median', 'spread', 'met'], rows)}`);
  console.log(`${machine()}, ${today()}; load of the last 1, 5 and 15 minutes ${load.join(', ')}`);
  if (rows.some((row) => ['no', 'not said'].includes(row.at(-1)!))) process.exitCode = 1;
}

function judged({ what, says, target = '', isMet }: Wanted, words: string): string[] {
  const said = new RegExp(`${says.source} median ([\\d.]+) \\(([^)]*)\\)`, says.flags).exec(words);
  if (said === null) return [what, target, '', '', 'not said'];
  const met = isMet === undefined ? '' : isMet(Number(said[1])) ? 'yes' : 'no';
  return [what, target, said[1]!, said[2]!, met];
}

/** What an arm says, which is shown as it comes. Nothing more is known of one that fails. */
async function wordsOf({ name, args }: Arm): Promise<string> {
  const main = new URL('main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, name, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    words += text;
    process.stdout.write(text);
  });
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('close', resolve);
  const status = await promise;
  if (status !== 0) console.log(`${name} ended with status ${status}`);
  return words;
}
