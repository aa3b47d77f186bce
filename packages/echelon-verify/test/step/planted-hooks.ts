/** What the command line said of bugs that were planted into trainers whose hook was on (deploy/capture/tests/test_planted_*_full.py). */

import { readFileSync } from 'node:fs';

/** Of one bug in one trainer. */
export interface HookOutcome {
  /** Of `echelon verify` on the folder of both ranks. */
  readonly status: number;
  /** Such as `stage gradient`, `value clipFraction` or `finding looks-bfloat16`. */
  readonly found: readonly string[];
  /** The first cause that it named. */
  readonly cause?: string;
  /** Stages that were not verified. */
  readonly missing?: readonly string[];
}

/** Of all bugs in one trainer, by their sources. */
export interface HookRecord {
  readonly planted: Readonly<Record<string, HookOutcome>>;
  /** Why a bug cannot be planted. */
  readonly notPlanted: Readonly<Record<string, string>>;
}

/** The trainers. */
export const HOOKS = { trl: 'TRL', verl: 'verl' } as const;
export type HookName = keyof typeof HOOKS;

const PATH = '../../../../test/golden/steps/planted-hooks.json';

/** The records of all trainers. */
export const hookRecords = (): Readonly<Record<HookName, HookRecord>> =>
  JSON.parse(readFileSync(new URL(PATH, import.meta.url), 'utf8'));
