/**
 * Groups by position: many trainers compute over blocks of n rows and write no group id. The prompts tell whether the blocks
 * are those of the trainer.
 */

import { counted } from 'command-kit/plural';
import { finding, some } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { Names } from './adapter.ts';

/** The groups of a step, and what contradicts them. */
export interface Blocks {
  readonly group: Names;
  readonly findings: readonly Finding[];
}

/** Groups rows by position in blocks of the stated size. `prompts` has one text a row. */
export function blocksOf(prompts: readonly string[], size: number): Blocks {
  // After a lost row, positions do not tell the blocks any more: equal prompts do.
  if (prompts.length % size !== 0) {
    const text = `${counted(prompts.length, 'row')} are not a multiple of ${size} rows per group.`;
    const group = inPieces(prompts, size);
    return { group, findings: [finding('block-partial', text), ...repeated(prompts, group)] };
  }
  const group = runNames(Array.from({ length: prompts.length / size }, () => size));
  return { group, findings: [...mixed(prompts, group), ...repeated(prompts, group)] };
}

/**
 * The groups that runs of equal prompts can be, if no size is stated: runs of one length are groups, or blocks of it. Runs that
 * differ are groups of different sizes, or several groups with one prompt; the first is what fits without a lost row. Empty if
 * no prompt occurs twice in a row.
 */
export function runBlocks(prompts: readonly string[]): Blocks[] {
  const runs = runsOf(prompts);
  const size = usualRun(runs);
  if (size === undefined) return [];
  const whole = withRepeated(prompts, runNames(runs));
  const pieces = withRepeated(prompts, inPieces(prompts, size));
  if (pieces.group.names.length === whole.group.names.length) return [whole];
  return runs.every((run) => run % size === 0) ? [pieces, whole] : [whole, pieces];
}

const withRepeated = (prompts: readonly string[], group: Names): Blocks => ({
  group,
  findings: repeated(prompts, group),
});

/** Runs of equal prompts, in pieces of the size at most. */
function inPieces(prompts: readonly string[], size: number): Names {
  return runNames(runsOf(prompts).flatMap((run) => pieces(run, size)));
}

/** Lengths of runs of equal prompts. */
function runsOf(prompts: readonly string[]): number[] {
  const runs: number[] = [];
  prompts.forEach((prompt, row) => {
    if (row > 0 && prompt === prompts[row - 1]) runs[runs.length - 1]! += 1;
    else runs.push(1);
  });
  return runs;
}

/** The length that all runs are multiples of, else the most frequent one; undefined if no prompt occurs twice in a row. */
function usualRun(runs: readonly number[]): number | undefined {
  const common = runs.reduce(gcd, 0);
  if (common > 1) return common;
  const frequency = new Map<number, number>();
  for (const run of runs) if (run > 1) frequency.set(run, (frequency.get(run) ?? 0) + 1);
  const [most] = [...frequency].sort(([a, times], [b, others]) => others - times || b - a);
  return most?.[0];
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** A run of several blocks with one prompt, as blocks. */
function pieces(run: number, size: number): number[] {
  const whole = Array.from({ length: Math.floor(run / size) }, () => size);
  return run % size === 0 ? whole : [...whole, run % size];
}

function runNames(sizes: readonly number[]): Names {
  const ids = sizes.flatMap((size, block) => new Array<number>(size).fill(block));
  return { ids: Int32Array.from(ids), names: sizes.map((_, block) => `block ${block}`) };
}

function mixed(prompts: readonly string[], { ids, names }: Names): Finding[] {
  const first = new Map<number, string>();
  const off: number[] = [];
  prompts.forEach((prompt, row) => {
    const own = first.get(ids[row]!) ?? prompt;
    first.set(ids[row]!, own);
    if (own !== prompt) off.push(row);
  });
  if (off.length === 0) return [];
  const blocks = [...new Set(off.map((row) => names[ids[row]!]!))];
  const text = `${counted(blocks.length, 'block')} of ${names.length} hold more than one prompt (${some(blocks, 3)}).`;
  return [finding('block-mixed', text, off)];
}

function repeated(prompts: readonly string[], { ids, names }: Names): Finding[] {
  const blocksOfPrompt = new Map<string, Set<number>>();
  prompts.forEach((prompt, row) => {
    const blocks = blocksOfPrompt.get(prompt) ?? new Set();
    blocksOfPrompt.set(prompt, blocks.add(ids[row]!));
  });
  const shared = [...blocksOfPrompt.values()].filter((blocks) => blocks.size > 1);
  if (shared.length === 0) return [];
  const example = [...shared[0]!].slice(0, 3).map((block) => names[block]!);
  const text = `${counted(shared.length, 'prompt')} in more than one block (${some(example, 3)}).`;
  return [finding('prompt-repeated', text)];
}
