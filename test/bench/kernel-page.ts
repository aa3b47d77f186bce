/** What `npm run bench -- kernel` found, in words: for the terminal, and as the page docs/evidence/kernel.md. */

import { markdownTable, round, type Timing } from './harness.ts';
import type { Report } from './kernel.ts';

/** The figures as lines of text. */
export function describe(report: Report): string {
  const lines: string[] = [];
  const { spread, scaling, twoThreads, breakdown, c, recipe } = report;
  const say = (label: string, text: string) => lines.push(`${label.padEnd(24)}${text}`);
  lines.push(
    `${report.machine}\nHGPO, ${report.mode}, K = ${report.historyLength}, ids given; CPU time, best of ${spread.rounds} rounds\n`,
  );
  say(
    'one thread',
    `${report.nsPerStep} ns/step at ${report.steps} steps (median ${spread.median}, worst ${spread.worst}; by the wall clock ${spread.wallBest})`,
  );
  say('scaling', `${scaling.ratio} × the ${scaling.small.best} ns/step at ${scaling.from} steps`);
  say(
    'two threads',
    `${twoThreads.ratio} × one thread (${twoThreads.two.best} against ${twoThreads.one.best} ns/step)`,
  );
  say(
    'plain C, -O3',
    c === null
      ? 'not measured'
      : `${c.nsPerStep} ns/step, one table for the whole batch: ${c.timesFaster} × as long`,
  );
  if (recipe !== undefined) {
    say(
      'official recipe',
      `${round(recipe.recipe.advantages.median / 1000)} µs/step, torch ${recipe.torch}, ${recipe.rows} steps: ${recipe.timesFaster} × as long`,
    );
    say('', `largest difference ${recipe.largestDifference}`);
  }
  lines.push(`
Where the time goes: arranging the rows ${breakdown.orderNs} ns, loading a group and level 0 ${breakdown.loadAndLevelZeroNs} ns, each
further level ${breakdown.perFurtherLevelNs} ns. Memory bandwidth alone would allow ${breakdown.bandwidthFloorNs} ns for all of it. The rest is
latency inside the first two caches: per row and level one dependent chain member → observation → slot → cluster,
a store to the cluster that the next row reads back, and one division; the branches that could not be foreseen
are masks.`);
  return lines.join('\n');
}

/** The page, with every figure's spread. `args` are those of the command that makes it. */
export function kernelPage(report: Report, args: readonly string[]): string {
  const { recipe } = report;
  const arms: [string, Timing][] = [
    [`one thread, ${report.steps.toLocaleString('en-US')} steps`, report.spread],
    [`one thread, ${report.scaling.from.toLocaleString('en-US')} steps`, report.scaling.small],
    ['one thread, wall clock', report.twoThreads.one],
    ['two threads, wall clock', report.twoThreads.two],
    ...(recipe === undefined
      ? []
      : ([
          [`kernel, ${recipe.rows.toLocaleString('en-US')} steps, ids given`, recipe.kernel.advantages],
          [`official recipe, ${recipe.rows.toLocaleString('en-US')} steps`, recipe.recipe.advantages],
        ] as [string, Timing][])),
  ];
  const command = args.map((arg) => (arg.includes('/') ? 'DIR' : arg)).join(' ');
  return [
    '# What the kernel costs',
    '',
    `Made by \`npm run bench -- ${command}\` on ${report.date.slice(0, 10)}, at a load of ${report.load} on the machine:`,
    'what else runs there lengthens the wall clock, and through shared caches also CPU time. Best of each is what the',
    'code can do; ratios are of arms that ran in turn in one process.',
    '',
    '```',
    describe(report),
    '```',
    '',
    markdownTable(
      ['ns per step', 'best', 'median', 'worst', 'rounds'],
      arms.map(([name, t]) => [name, t.best, t.median, t.worst, t.rounds]),
    ),
    '',
  ].join('\n');
}
