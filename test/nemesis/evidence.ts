import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { BOUND_MS, percentile, type Result } from './campaign.ts';
import { nameOf, type Tried } from './detection.ts';

const PAGE = new URL('../../docs/evidence/faults.md', import.meta.url);
const INTRODUCTION = `# Random faults

\`npm run test:nemesis\` runs Redis, three dispatchers and an api, each as a process, with a ray-worker whose drivers are
timers. Users submit, cancel and follow experiments over HTTP meanwhile. At least 20 attempts run when a fault occurs, and the
next fault waits for progress. At the end, \`test/nemesis/checks.ts\` checks the whole history: one function for each guarantee.
Its witnesses are the launch log of the ray-worker, the events that drivers made, and the answers that users received.

`;

/** Replaces one section of docs/evidence/faults.md; the others stay. */
function writeSection(title: string, text: string): void {
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : INTRODUCTION;
  const [head = '', ...sections] = page.split(/^## /m);
  const others = sections.filter((section) => !section.startsWith(`${title}\n`)).map((one) => one.trimEnd());
  const all = [...others, `${title}\n\n${text.trimEnd()}`].toSorted();
  writeFileSync(PAGE, `${head.trimEnd()}\n\n${all.map((section) => `## ${section}\n`).join('\n')}`);
}

const table = (head: string[], rows: (string | number)[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** Node.js, processors and date, in words. */
const setup = () =>
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} processors, Node ${process.version}`;

/** Writes what campaigns found. */
export function writeCampaigns(results: readonly Result[], minutes: number): void {
  const rows = results.map((result) => {
    const { recoveries, faults, lagMs } = result.measured;
    const counts = [...faults.values()];
    return [
      ...[result.world, result.seed, result.experiments, result.attempts, result.events],
      counts.reduce((sum, { count }) => sum + count, 0),
      counts.reduce((sum, { exposures }) => sum + exposures, 0),
      result.violations.length,
      ...[percentile(recoveries, 0.5), percentile(recoveries, 0.99), lagMs].map((ms) => `${ms} ms`),
      result.starved ? `starved: ${result.machine}` : result.machine,
    ];
  });
  const head = ['world', 'seed', 'experiments', 'launches', 'events', 'faults', 'exposures', 'violations'];
  const times = ['recovery p50', 'recovery p99', 'longest wait of an event', 'machine'];
  const kinds = results.flatMap(({ world, measured }) =>
    [...measured.faults].map(([kind, { count, exposures }]) => [world, kind, count, exposures]),
  );
  const operations = results.flatMap(({ world, operations: counts }) =>
    [...counts].map(([operation, count]) => [world, operation, count]),
  );
  writeSection(
    'Campaigns',
    `${setup()}; ${minutes} minutes of faults in each world: \`npm run test:nemesis -- --minutes ${minutes} --write\`.
Recovery: from a fault until the next event of an exposed attempt is recorded. The bound on recovery and on waits is ${BOUND_MS} ms.
A starved machine had CPU pressure above 50 % or late timers for 10 s. Its times say nothing, and the run counts as inconclusive.

${table([...head, ...times], rows)}

Faults by kind:

${table(['world', 'fault', 'faults', 'exposures'], kinds)}

Operations of users, each retried until it was answered:

${table(['world', 'operation', 'count'], operations)}`,
  );
}

/** Writes which defects the tests found. */
export function writeDefects(tried: readonly Tried[]): void {
  const rows = tried.map(({ defect, outcome }) => [
    defect.removes,
    `\`${defect.file}\``,
    nameOf(defect.cell),
    outcome,
  ]);
  const found = tried.filter(({ outcome }) => outcome === 'found').length;
  writeSection(
    'Detection power',
    `${setup()}: \`npm run test:nemesis -- --defects --write\`. Each defect removes one mechanism by one edit in a copy of the
sources. The tests found ${found} of ${tried.length}. Unclear: they failed without the defect, too.

${table(['removed', 'in', 'tried at', 'outcome'], rows)}`,
  );
}
