import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hgpo, stepReturns } from 'echelon-verify/kernel/index';
import { round, type Timing, timeInTurn, timingOf } from './harness.ts';
import { benchBatch, benchTexts } from './kernel-data.ts';

/** The official recipe beside the kernel, on a batch of the size of one ALFWorld training step. */
export interface RecipeComparison {
  readonly rows: number;
  readonly torch: string;
  readonly recipe: { readonly returns: Timing; readonly advantages: Timing };
  readonly kernel: { readonly advantages: Timing };
  /** Advantages alone, ids given. */
  readonly timesFaster: number;
  readonly largestDifference: number;
}

const ROWS = 6400;

/** Runs `checkout`/recipe/hgpo/core_hgpo.py with `python`. Throws an Error in words where that cannot be done. */
export async function compareRecipe(options: {
  checkout: string;
  python: string;
  historyLength: number;
  rounds: number;
}): Promise<RecipeComparison> {
  const checkout = resolve(options.checkout);
  if (!existsSync(join(checkout, 'recipe/hgpo/core_hgpo.py'))) {
    throw new Error(`${checkout} has no recipe/hgpo/core_hgpo.py: --recipe takes a checkout of verl-agent`);
  }
  const batch = benchBatch(ROWS);
  const texts = benchTexts(batch.steps.observation, 1024);
  const { historyLength } = options;
  const official = runPython(
    { ...options, checkout },
    {
      ...Object.fromEntries(
        Object.entries(batch.steps).map(([key, column]) => [key, Array.from(Object(column))]),
      ),
      texts: dictionaryOf(batch.steps.observation, texts),
      reward: Array.from(batch.reward),
      actionValid: Array.from(batch.actionValid),
      historyLength,
      mode: 'mean_std_norm',
    },
  );
  // A hundred times each, since the clock of a thread's CPU time may tick in milliseconds.
  const hundred = (work: () => unknown) => ({
    run: () => {
      for (let time = 0; time < 100; time++) work();
    },
    steps: 100 * ROWS,
  });
  const arms = {
    advantages: hundred(() => hgpo(batch.steps, batch.stepReturn, { historyLength })),
  };
  const kernel = await timeInTurn(arms, 7);
  const returns = stepReturns({ ...batch.steps, ...batch }, { gamma: 0.95, invalidActionPenalty: 0.1 });
  const ours = hgpo(batch.steps, returns, { historyLength });
  const recipe = { returns: timingOf(official.returns), advantages: timingOf(official.advantages) };
  return {
    rows: ROWS,
    torch: official.torch,
    recipe,
    kernel,
    timesFaster: round(recipe.advantages.median / kernel.advantages.median),
    largestDifference: official.advantage.reduce(
      (most, a, row) => Math.max(most, Math.abs(a - ours[row]!)),
      0,
    ),
  };
}

interface Official {
  readonly torch: string;
  readonly returns: number[];
  readonly advantages: number[];
  readonly advantage: number[];
}

function runPython(options: { checkout: string; python: string; rounds: number }, batch: object): Official {
  const directory = mkdtempSync(join(tmpdir(), 'kernel-recipe-'));
  const path = join(directory, 'batch.json');
  const driver = new URL('./kernel-recipe.py', import.meta.url).pathname;
  try {
    execFileSync(options.python, ['-c', 'import torch, numpy'], { stdio: 'ignore' });
  } catch {
    rmSync(directory, { recursive: true });
    throw new Error(
      `${options.python} has no torch: install it (${options.python} -m pip install torch numpy), or name another with --python`,
    );
  }
  try {
    writeFileSync(path, JSON.stringify(batch));
    const args = [driver, options.checkout, path, String(options.rounds)];
    return JSON.parse(
      execFileSync(options.python, args, { encoding: 'utf8', maxBuffer: 2 ** 28 }),
    ) as Official;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function dictionaryOf(observation: Int32Array, texts: { bytes: Uint8Array; offsets: Uint32Array }): string[] {
  const dictionary: string[] = [];
  observation.forEach((id, row) => {
    dictionary[id] ??= Buffer.from(
      texts.bytes.subarray(texts.offsets[row]!, texts.offsets[row + 1]!),
    ).toString();
  });
  return dictionary;
}
