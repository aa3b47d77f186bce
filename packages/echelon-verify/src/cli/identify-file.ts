import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { nearestName } from 'command-kit/nearest';
import { json } from 'command-kit/output';
import { table } from 'command-kit/table';
import type { HalfPrecision, Precision } from '../arithmetic/arithmetic.ts';
import { groupedBy } from '../base/grouped-by.ts';
import { present } from '../base/present.ts';
import type { DumpStep, Mapping } from '../dumps/adapter.ts';
import { batchOf } from '../dumps/dump-batch.ts';
import { adapterFor } from '../dumps/registry.ts';
import { TABLE } from '../dumps/table.ts';
import { type ChangedForm, changedForm } from '../explain/changed-form.ts';
import { formatIdentification } from '../explain/step-text.ts';
import { type Batch, estimatorFrom } from '../format/batch.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { formFingerprint, KNOWN_FORMS, knownForm, sourceOf } from '../identify/fingerprints.ts';
import type { Candidate, Identification } from '../identify/identify.ts';
import {
  estimatorOfForm,
  identify,
  identifyBlocks,
  inBlocks,
  printedTolerance,
  summaryOf,
} from '../identify/identify.ts';
import { type Difference, probeTable, shortValue } from '../identify/probes.ts';
import { identifyStep } from '../identify/steps/identify-step.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import { BatchFileError, orUnreadable, readBatchesOf, type TextStreams } from './batch-files.ts';
import { stepsOf } from './steps-of.ts';

/** How a run of `echelon identify` is steered. */
export interface IdentifyOptions {
  readonly json?: boolean | undefined;
  /** Rows per group of a table without groups. */
  readonly groupSize?: number | undefined;
  /** Columns of a table by what they mean. */
  readonly map?: Mapping | undefined;
  /** The arithmetic of the trainer. Default: the one that a batch file states, else float32. */
  readonly precision?: Precision | undefined;
}

/** Rows that are tried at most: more hardly tell more. */
const MAX_TRIED_ROWS = 20_000;

/**
 * `echelon identify [FILE]`: which known arithmetic explains the advantages of a batch file, a dump or a table of rewards
 * and advantages; without a file the table on standard input. Exit status: 3 if a form explains all rows, since a fit is no
 * proof; 1 if none does; 2 if the file is unreadable.
 */
export async function identifyFile(
  path: string | undefined,
  options: IdentifyOptions,
  io: TextStreams & { readonly stdin?: AsyncIterable<Uint8Array | string> },
): Promise<number> {
  return await orUnreadable(io, async () => {
    const steps = path === undefined || path === '-' ? undefined : await stepsOf(path);
    if (steps !== undefined) return identifySteps(steps, options, io);
    const read =
      path === undefined || path === '-'
        ? await fromInput(io.stdin ?? process.stdin, options)
        : await fromFile(path, options);
    const { blocks, found } = identified(read, options);
    if (found.rows === 0)
      throw new BatchFileError(`${path ?? 'standard input'}: no row has a reward and an advantage`);
    const change = read.ungrouped ? undefined : changedForm(read.batches, found);
    if (options.json === true)
      io.stdout.write(`${json({ ...plain(found, blocks), likelyCause: change ?? null })}\n`);
    else io.stdout.write(`${described({ found, blocks, change }, io.stdout.columns)}\n`);
    return found.fits.length > 0 ? EXIT.unproven : EXIT.notOk;
  });
}

/** Identifies each step of a file. A step whose stated arithmetic fits needs no explanation. */
function identifySteps(
  steps: readonly StepBatch[],
  options: IdentifyOptions,
  { stdout }: TextStreams,
): number {
  const found = steps.map(identifyStep);
  stdout.write(
    options.json === true ? `${json({ steps: found })}\n` : found.map(formatIdentification).join('\n'),
  );
  const isExplained = found.every(
    ({ tokens, statedExplains, explanations }) =>
      tokens > 0 && (statedExplains === tokens || explanations.length > 0),
  );
  return isExplained ? EXIT.unproven : EXIT.notOk;
}

interface Read {
  readonly batches: readonly Batch[];
  /** The table has no groups. */
  readonly ungrouped: boolean;
  /** What printing took from the advantages. */
  readonly tolerance: number;
}

function identified(
  { batches, ungrouped, tolerance }: Read,
  { groupSize }: IdentifyOptions,
): { blocks?: number; found: Identification } {
  const [first] = batches;
  if (!ungrouped || first === undefined) return { found: identify(batches, tolerance) };
  if (groupSize !== undefined)
    return {
      blocks: groupSize,
      found: identify(
        batches.map((batch) => inBlocks(batch, groupSize)),
        tolerance,
      ),
    };
  return identifyBlocks(first, tolerance) ?? { found: identify([inBlocks(first, first.rows)], tolerance) };
}

async function fromFile(path: string, options: IdentifyOptions): Promise<Read> {
  const { map } = options;
  const adapter = await adapterFor(path, map).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return 'native' as const;
    throw error;
  });
  if (adapter === 'native')
    return { batches: inPrecision(await readBatchesOf(path), options), ungrouped: false, tolerance: 0 };
  const steps: DumpStep[] = [];
  let rows = 0;
  // The blocks of a table are made here, and stated in the result.
  const { groupSize } = adapter === undefined || adapter === TABLE ? {} : options;
  const reader = adapter ?? TABLE;
  for await (const step of reader.steps([path], present({ groupSize, map }))) {
    steps.push(step);
    rows += step.reward.length;
    if (rows > MAX_TRIED_ROWS) break;
  }
  // Any estimator does: the known forms take its place.
  const batches = inPrecision(
    steps.map((step) => batchOf(step, estimatorFrom('grpo'))),
    options,
  );
  const ungrouped = steps.every(({ group }) => group.names.length <= 1);
  const tolerance = printedTolerance(steps.flatMap(({ advantage }) => [...(advantage ?? [])]));
  return { batches, ungrouped, tolerance };
}

function inPrecision(batches: readonly Batch[], { precision }: IdentifyOptions): readonly Batch[] {
  if (precision === undefined) return batches;
  return batches.map((batch) => ({ ...batch, estimator: { ...batch.estimator, precision } }));
}

/** Bytes of a table on standard input at most. */
const MAX_INPUT_BYTES = 64 * 2 ** 20;

/** The table on standard input, by way of a file, since readers of files read any place. */
async function fromInput(stdin: AsyncIterable<Uint8Array | string>, options: IdentifyOptions): Promise<Read> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stdin) {
    parts.push(Buffer.from(part));
    bytes += parts.at(-1)!.length;
    if (bytes > MAX_INPUT_BYTES)
      throw new RangeError(`standard input has more than ${MAX_INPUT_BYTES} bytes: name a file`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'echelon-identify-'));
  try {
    const file = join(folder, 'standard-input');
    await writeFile(file, Buffer.concat(parts));
    return await fromFile(file, options);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function plain(found: Identification, blocks: number | undefined): object {
  const of = ({ estimator, forms, ...rest }: Candidate) => ({
    ...rest,
    estimator: estimator.name,
    params: estimator.params,
    forms: forms.map(({ id, setting, source }) => ({ id, setting, source })),
  });
  return {
    summary: summaryOf(found, blocks),
    ...(blocks === undefined ? {} : { blocks }),
    rows: found.rows,
    looksRounded: found.looksRounded ?? null,
    fits: found.fits.map(of),
    others: found.others.map(of),
    untried: found.untried.map(({ forms, missing }) => ({ forms: forms.map(({ id }) => id), missing })),
    differences: found.differences,
  };
}

const SHOWN_OTHERS = 8;
const looksText = (format: HalfPrecision) =>
  `The values look rounded to ${format}. Try --precision ${format}-output, or ${format} if the trainer computes in it.`;

interface Described {
  readonly found: Identification;
  readonly blocks: number | undefined;
  readonly change: ChangedForm | undefined;
}

function described({ found, blocks, change }: Described, width: number | undefined): string {
  const { fits, others, untried, looksRounded, differences } = found;
  const lines = [
    summaryOf(found, blocks),
    ...(change === undefined ? [] : [`Likely cause, if ${change.form} was meant: ${change.text}.`]),
    ...(looksRounded ? [looksText(looksRounded)] : []),
    '',
  ];
  for (const { fingerprint, forms } of fits) {
    lines.push(`  ${fingerprint}`, ...forms.map(({ id, setting }) => `    ${id.padEnd(34)} ${setting}`));
  }
  if (differences.length > 0) {
    lines.push('', 'These rows would tell them apart:', ...differences.map(differenceLine));
  }
  if (others.length > 0) {
    const rows = others
      .slice(0, SHOWN_OTHERS)
      .map((other) => [
        `${other.forms[0]!.id}: ${other.fingerprint}`,
        `${other.explained} of ${other.rows}`,
        ...farText(other),
      ]);
    const head = ['does not explain', 'rows explained', 'farthest row', 'reported', 'its value'];
    lines.push('', table(head, rows, width));
    if (others.length > SHOWN_OTHERS)
      lines.push(`and ${others.length - SHOWN_OTHERS} more (--json lists all)`);
  }
  const lacking = groupedBy(untried, ({ missing }) => missing);
  for (const [missing, own] of lacking) {
    const ids = own.flatMap(({ forms }) => forms.map(({ id }) => id));
    lines.push(`not tried, since the file lacks ${missing}: ${ids.join(', ')}`);
  }
  return lines.join('\n');
}

function farText({ farthest }: Candidate): (string | number)[] {
  if (farthest === undefined) return ['', '', ''];
  return [
    `${inert(farthest.batch)}: ${farthest.row}`,
    shortValue(farthest.reported),
    shortValue(farthest.value),
  ];
}

function differenceLine({ fingerprint, probe, row, first, value }: Difference): string {
  if (probe === undefined) return `  ${fingerprint}: none of the usual rewards`;
  return `  ${fingerprint}: ${probe} (row ${row}: ${shortValue(first!)} by the first, ${shortValue(value!)} by this)`;
}

/**
 * `echelon identify --known ID`: one line of the table of known forms, and what it gives the usual rewards. Exit status 2 for
 * an unknown id.
 */
export function showKnownForm(
  id: string,
  options: { readonly json?: boolean | undefined },
  io: TextStreams,
): number {
  if (!KNOWN_FORMS.some((form) => form.id === id)) {
    const near = nearestName(
      id,
      KNOWN_FORMS.map((form) => form.id),
    );
    io.stderr.write(`no known form ${inert(id)}${near === undefined ? '' : `: did you mean ${near}?`}\n`);
    return EXIT.usage;
  }
  const form = knownForm(id);
  const values = probeTable(estimatorOfForm(form));
  const { title, formula } = estimatorOf(form.estimator);
  const about = {
    id,
    setting: form.setting,
    title,
    formula,
    fingerprint: formFingerprint(form),
    source: sourceOf(form),
  };
  if (options.json === true) io.stdout.write(`${json({ ...about, values })}\n`);
  else {
    const lines = Object.entries(about).map(([key, text]) => `${key.padEnd(12)} ${text}`);
    const rows = values.map(({ probe, values: own }) => [probe, own]);
    io.stdout.write(
      `${[...lines, '', table(['rewards', 'advantages'], rows, io.stdout.columns)].join('\n')}\n`,
    );
  }
  return EXIT.ok;
}
