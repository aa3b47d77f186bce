/** What people read of a folder before and after the reports of its files. */

import { styleText } from 'node:util';
import { inert } from 'command-kit/inert';
import { counted, plural } from 'command-kit/plural';
import { lookedFor, nextLines, type Verified } from '../run-folder/next-lines.ts';
import { trainersOf } from '../run-folder/recognise.ts';
import { type FoundTrainer, type NextLine, TRAINERS } from '../run-folder/trainers.ts';
import type { AnyReport } from './batch-files.ts';
import type { SortedFolder } from './dump-files.ts';

/** A folder with the trainers that wrote it. */
export interface RecognisedFolder extends SortedFolder {
  readonly trainers: readonly FoundTrainer[];
}

/** The folders with their trainers. */
export const recognised = (folders: readonly SortedFolder[]): Promise<RecognisedFolder[]> =>
  Promise.all(
    folders.map(async (one) => ({ ...one, trainers: await trainersOf(one.contents, one.path, one.readers) })),
  );

/** The trainers of a folder as JSON has them. */
export const foundOf = ({ trainers }: RecognisedFolder) =>
  trainers.map(({ name, version, by, run }) => ({ name, version: version ?? null, file: by, run }));

/** Runs that are listed. */
const MAX_RUNS = 5;

/** Which trainers wrote the folders, and what lies beside their dumps. */
export function folderHead(folders: readonly RecognisedFolder[]): string {
  const runs = folders.flatMap(({ trainers }) => trainers);
  const lines = runs
    .slice(0, MAX_RUNS)
    .map(
      ({ name, version, by }) =>
        `${TRAINERS[name].title}${version === undefined ? '' : ` ${version}`}: ${by}`,
    );
  if (runs.length > MAX_RUNS) lines.push(`and ${runs.length - MAX_RUNS} more runs`);
  const beside = folders.flatMap(besideOf);
  return [
    ...labelled('run', lines),
    ...labelled('beside', beside.length === 0 ? [] : [beside.join('; ')]),
    ...labelled('not read', folders.flatMap(unreadOf)),
  ].join('');
}

const labelled = (label: string, lines: readonly string[]): string[] =>
  lines.map((line, at) => `${styleText('bold', (at === 0 ? label : '').padEnd(11))}${inert(line)}\n`);

/** Nothing of these can be verified, but people look for their runs by them. */
function besideOf({ contents: { marks, checkpoints } }: RecognisedFolder): string[] {
  const [wandb] = marks.get('wandb') ?? [];
  const [tensorboard] = marks.get('tensorboard') ?? [];
  return [
    ...(wandb === undefined ? [] : [`W&B in ${wandb}`]),
    ...(tensorboard === undefined ? [] : [`TensorBoard in ${tensorboard}`]),
    ...(checkpoints === 0 ? [] : [plural(checkpoints, 'checkpoint')]),
  ];
}

function unreadOf({ path, contents: { unlisted, isCut, entries }, unopened }: RecognisedFolder): string[] {
  const [first] = unlisted;
  return [
    ...(first === undefined
      ? []
      : [`${plural(unlisted.length, 'folder')} that cannot be listed: ${first.folder} (${first.code})`]),
    ...(isCut
      ? [
          `${path} has more than ${counted(entries, 'entry', 'entries')}: the others were not looked at. Name the folder of the run`,
        ]
      : []),
    ...(unopened === 0
      ? []
      : [
          `${counted(unopened, 'file')}, whose names differ only in numbers from others in no known format, or which are too many`,
        ]),
  ];
}

/** What is known of the folders' batches and steps. */
export function verifiedOf(reports: readonly AnyReport[], steps: boolean): Verified {
  const isSilent = (report: AnyReport): boolean =>
    report.findings.some(({ code }) => code === 'advantages-missing');
  const inferred = reports.some(
    (report) => 'configuration' in report && report.configuration.origin === 'inferred' && !isSilent(report),
  );
  if (reports.length === 0) return { advantages: 'none', steps };
  if (reports.every(isSilent)) return { advantages: 'missing', steps };
  return { advantages: inferred ? 'inferred' : 'verified', steps };
}

/** The next lines of all folders. */
export const nextOf = (folders: readonly RecognisedFolder[], verified: Verified): NextLine[] =>
  nextLines(
    folders.flatMap(({ trainers }) => trainers),
    verified,
  );

/** The next lines as text; nothing if there is none. */
export function nextText(lines: readonly NextLine[], install: string): string {
  if (lines.length === 0) return '';
  const numbered = lines.flatMap(({ text, copy = [] }, at) => [
    `  ${at + 1}. ${text}`,
    ...copy.map((line) => `       ${line}`),
  ]);
  const package_ = lines.some(({ needsCapture }) => needsCapture)
    ? [`  The package echelon-capture, in the trainer's Python: ${install}`]
    : [];
  return `\n${styleText('bold', 'Next')}\n${[...numbered, ...package_].map((line) => `${inert(line)}\n`).join('')}`;
}

/** What folders of no known trainer were searched for. */
export function lookedForText(folders: readonly RecognisedFolder[]): string {
  if (folders.length === 0 || folders.some(({ trainers }) => trainers.length > 0)) return '';
  const entries = folders.reduce((sum, { contents }) => sum + contents.entries, 0);
  return [
    `Looked at ${counted(entries, 'entry', 'entries')} for the dumps of`,
    ...lookedFor(),
    '  any trainer      step-N.json.gz, update-N.pb (echelon-capture), or a table with --map',
    'and for training_args.bin, args.json, config.yaml, .hydra/config.yaml, orchestrator.toml, rl.toml, wandb and TensorBoard files.',
    '',
  ].join('\n');
}
