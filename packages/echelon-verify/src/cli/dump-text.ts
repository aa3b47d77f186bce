import { styleText } from 'node:util';
import { inert } from 'command-kit/inert';
import { percent } from 'command-kit/number';
import { plural } from 'command-kit/plural';
import { groupedBy } from '../base/grouped-by.ts';
import { adapterOf } from '../dumps/registry.ts';
import { addSignal, NO_SIGNAL, type SignalHealth } from '../verify/signal.ts';
import { configurationText, type DumpReport } from '../verify/verify-dump.ts';

/** What people read of a run before its table: format, estimator and signal. */
export function dumpHead(reports: readonly DumpReport[]): string[] {
  const [first] = reports;
  if (first === undefined) return [];
  const files = [...new Set(reports.map(({ file }) => file))];
  const where = files.length === 1 ? files[0]! : `${plural(files.length, 'file')} in ${first.run}`;
  const signal = reports.map((report) => report.signal).reduce(addSignal, NO_SIGNAL);
  const lines: [string, string][] = [
    ['format', `${adapterOf(first.format).title}: ${where}`],
    ...estimatorLines(reports),
    ...signalLines(signal).map((line, i): [string, string] => [i === 0 ? 'signal' : '', line]),
    ...exampleLines(reports),
  ];
  return lines.map(([label, text]) => `${styleText('bold', label.padEnd(11))}${inert(text)}`);
}

/** The estimator of the run, or each of them with its steps. */
function estimatorLines(reports: readonly DumpReport[]): [string, string][] {
  const texts = groupedBy(reports, ({ configuration }) => configurationText(configuration));
  return [...texts].map(([text, own], i) => {
    const steps = texts.size === 1 ? '' : ` (${own[0]!.name} to ${own.at(-1)!.name})`;
    return [i === 0 ? 'estimator' : '', `${text}${steps}`];
  });
}

/** The signal in sentences. */
export function signalLines(signal: SignalHealth): string[] {
  const { groups, single, allLowest, allHighest, allEqual, effectiveRows, rowsWithSignal } = signal;
  const without = single + allLowest + allHighest + allEqual;
  const reasons = [
    [allLowest, 'all at the lowest reward'],
    [allHighest, 'all at the highest reward'],
    [allEqual, 'all equal'],
    [single, 'a single row'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, text]) => `${count} ${text}`);
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  const lines = [
    `${shareOf(groups - without, groups)} of ${plural(groups, 'group')} have a signal, ${without} have none${why}`,
  ];
  if (rowsWithSignal > 0) {
    const size = rowsWithSignal / (groups - without);
    const effective = effectiveRows / (groups - without);
    lines.push(
      `effective group size ${effective.toFixed(1)} of ${size.toFixed(1)} in the groups with a signal`,
    );
  }
  if (signal.advantages > 0) {
    const { advantages, clipped, large, flipped } = signal;
    lines.push(
      `advantages: ${shareOf(clipped, advantages)} clipped, ${shareOf(large, advantages)} above 10 in size, ${shareOf(flipped, advantages)} with another sign than reward less group mean`,
    );
  }
  return lines;
}

function shareOf(part: number, whole: number): string {
  return whole === 0 || part === 0 ? '0 %' : percent(part, whole);
}

function exampleLines(reports: readonly DumpReport[]): [string, string][] {
  const found = reports.find(({ example }) => example !== undefined);
  if (found?.example === undefined) return [];
  const { group, rewards, advantages } = found.example;
  const shown = (numbers: readonly number[]): string =>
    `${numbers
      .slice(0, 6)
      .map((x) => Number(x.toPrecision(5)))
      .join(', ')}${numbers.length > 6 ? ', …' : ''}`;
  return [
    [
      'expected',
      `${found.name}, group ${group}: rewards ${shown(rewards)} give advantages ${shown(advantages)}`,
    ],
  ];
}

/** The last words on runs that are consistent and not verified; undefined: there are none. */
export function unprovenText(reports: readonly DumpReport[]): string | undefined {
  const inferred = reports.find(
    ({ consistent, configuration }) => consistent && configuration.origin === 'inferred',
  );
  if (inferred !== undefined) {
    const { fingerprint, alternatives = [] } = inferred.configuration;
    const variants = plural(alternatives.length + 1, 'variant');
    const fits = alternatives.length === 0 ? '1 variant fits' : `${variants} fit`;
    return `Consistent with ${fingerprint}, inferred; ${fits}. That is evidence, not proof: state the estimator with --estimator and --param to verify it.`;
  }
  const unverified = reports.filter(({ consistent }) => consistent);
  const isSilent = ({ findings }: DumpReport): boolean =>
    findings.some(({ code }) => code === 'advantages-missing');
  if (unverified.some(isSilent))
    return 'Not verified: the dump has no advantages. `expected` shows what they should be; the capture hook records them (docs/guides/batch-from-a-trainer.md).';
  if (unverified.length === 0) return undefined;
  return `Nothing is wrong, but ${plural(unverified.length, 'step')} of ${reports.length} could not be verified: the findings say why.`;
}
