/** What the capture says that it did not capture: `gaps.jsonl` beside its files. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cut } from 'command-kit/cut';
import { plural } from 'command-kit/plural';
import { isObject } from '../format/json-params.ts';
import type { Source } from './dump-files.ts';
import { type ReadLimits, readBounded } from './read-bounded.ts';

/** A batch or an optimizer step that is in no file. */
export interface Gap {
  readonly file: string;
  readonly of: 'batch' | 'step';
  readonly step: number | null;
  readonly reason: string;
}

const NAME = 'gaps.jsonl';
const LIMITS: ReadLimits = { maxBytes: 2 ** 26, idleMs: 5_000 };
/** Gaps that are printed. */
const MAX_PRINTED = 3;

/** The gaps beside the files of the project's own formats. A line that is no gap is one without a reason. */
export async function gapsBeside(sources: readonly Source[]): Promise<Gap[]> {
  const folders = new Set(sources.flatMap((source) => ('file' in source ? [dirname(source.file)] : [])));
  const all: Gap[] = [];
  for (const folder of folders) {
    const file = join(folder, NAME);
    if (!existsSync(file)) continue;
    const text = new TextDecoder().decode(await readBounded(file, LIMITS));
    for (const line of text.split('\n').filter((one) => one.trim() !== ''))
      all.push({ file, ...gapOf(line) });
  }
  return all;
}

function gapOf(line: string): Omit<Gap, 'file'> {
  const parsed = parsedOf(line);
  const { of, step, reason } = isObject(parsed) ? parsed : {};
  return {
    of: of === 'step' ? 'step' : 'batch',
    step: typeof step === 'number' ? step : null,
    reason: typeof reason === 'string' ? cut(reason) : 'no reason is stated',
  };
}

function parsedOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The gaps in a few lines, not yet inert. */
export function gapLines(gaps: readonly Gap[]): string[] {
  const count = (of: Gap['of']) => gaps.filter((gap) => gap.of === of).length;
  const [batches, steps] = [count('batch'), count('step')];
  const what = [
    ...(batches === 0 ? [] : [plural(batches, 'batch', 'batches')]),
    ...(steps === 0 ? [] : [plural(steps, 'optimizer step')]),
  ];
  const lines = gaps
    .slice(0, MAX_PRINTED)
    .map(
      ({ of, step, reason }) =>
        `  ${of === 'step' ? 'optimizer step' : 'batch of step'} ${step ?? '?'}: ${reason}`,
    );
  const rest = gaps.length - lines.length;
  return gaps.length === 0
    ? []
    : [
        `Not captured: ${what.join(' and ')}`,
        ...lines,
        ...(rest === 0 ? [] : [`  … and ${rest} more (${gaps[0]!.file})`]),
      ];
}
