import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Result } from './campaign.ts';
import { nameOf, type Tried } from './detection.ts';
import { percentile } from './watch.ts';

const PAGE = new URL('../../docs/evidence/faults.md', import.meta.url);

/** The tables of docs/evidence/faults.md by their headings, with the text before each and the names of the columns. */
const TABLES = {
  Campaigns: [
    `One row for each world, written by \`npm run test:nemesis -- --world WORLD --minutes M --seed S --write\`. Recovery: from a
fault until the next event of an exposed attempt is recorded. A run fails if the recovery of an attempt or the wait of an event
exceeds the bound of its world: two leases and 5 s, in \`system\` two leases and 20 s. A starved machine had CPU pressure above
50 % or late timers for 10 s. Its times say nothing, and the run counts as inconclusive.`,
    'world',
    'minutes, seed',
    'experiments',
    'launches',
    'events',
    'faults',
    'exposures',
    'violations',
    'recovery p50',
    'recovery p99',
    'longest wait of an event',
    'machine',
  ],
  Faults: ['In parentheses: attempts that ran when such a fault occurred.', 'world', 'faults'],
  Operations: [
    'Each operation of a user was retried until it was answered. Those of dispatchers concern one lease each.',
    'world',
    'operations',
  ],
  'Detection power': [
    `\`npm run test:nemesis -- --defects --write\`: each defect removes one mechanism by one edit in a copy of the sources.
Unclear: the tests failed without the defect, too. Machine: 2 processors, Node 24.`,
    'guarantee',
    'removed',
    'in',
    'tried at',
    'outcome',
  ],
} as const;

type Title = keyof typeof TABLES;
type Row = readonly (string | number)[];

/** Replaces the rows of a table whose first cell is `replaced`, or all rows. */
function writeRows(title: Title, rows: readonly Row[], replaced?: string): void {
  const [head = '', ...sections] = readFileSync(PAGE, 'utf8').split(/^## /m);
  const written = Object.keys(TABLES).map((name) => {
    const lines = (sections.find((section) => section.startsWith(`${name}\n`)) ?? '').split('\n');
    const present = lines.filter((line) => line.startsWith('| ')).slice(2);
    const [text, ...columns] = TABLES[name as Title];
    const lineOf = (row: Row) => `| ${row.join(' | ')} |`;
    const others = present.filter((line) => replaced !== undefined && !line.startsWith(`| ${replaced} |`));
    const all = name === title ? [...others, ...rows.map(lineOf)] : present;
    const table = [lineOf(columns), lineOf(columns.map(() => '---')), ...all];
    return `## ${name}\n\n${text}\n\n${table.join('\n')}\n`;
  });
  writeFileSync(PAGE, `${head.trimEnd()}\n\n${written.join('\n')}`);
}

/** Node.js, processors and date, in words. */
const setup = () =>
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors, Node ${process.version}`;

/** Writes what a campaign found. */
export function writeCampaign(result: Result): void {
  const { operations, measured, machine } = result;
  const world = result.older === undefined ? result.world : `${result.world}, older ${result.older}`;
  const { recoveries, faults, lagMs } = measured;
  const sum = (name: 'count' | 'exposures') => faults.values().reduce((all, one) => all + one[name], 0);
  const times = [percentile(recoveries, 0.5), percentile(recoveries, 0.99), lagMs].map((ms) => `${ms} ms`);
  const row = [
    world,
    `${result.minutes}, ${result.seed}`,
    result.experiments,
    result.attempts,
    result.events,
    sum('count'),
    sum('exposures'),
    result.violations.length,
    ...times,
    `${setup()}; ${result.starved ? 'starved: ' : ''}${machine}`,
  ];
  writeRows('Campaigns', [row], world);
  const kinds = [...faults].map(([kind, { count, exposures }]) => `${kind}: ${count} (${exposures})`);
  const omitted = [...result.omitted].map(([kind, lack]) => `${kind}: omitted, ${lack}`);
  writeRows('Faults', [[world, [...kinds, ...omitted].join('; ')]], world);
  const counts = [...operations].map(([name, count]) => `${name} ${count}`);
  writeRows('Operations', [[world, counts.join('; ')]], world);
}

/** Writes which defects the tests found. */
export function writeDefects(tried: readonly Tried[]): void {
  const rows = tried.map(({ defect, outcome }) => {
    const { guarantee, removes, file, cell } = defect;
    return [guarantee, removes, `\`${file}\``, nameOf(cell), outcome];
  });
  writeRows('Detection power', rows);
}
