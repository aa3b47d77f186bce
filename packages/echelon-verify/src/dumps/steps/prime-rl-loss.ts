/**
 * The loss of a prime-rl run: as its configuration states it (`trainer.toml` or `rl.toml` in `OUTPUT` or `OUTPUT/configs`), or what
 * the flags of the export show.
 */

import { dirname, join } from 'node:path';
import { present } from '../../base/present.ts';
import type { LossSettings } from '../../format/step-settings.ts';
import { readSmall, type Settings, settingsOf } from '../config-yaml.ts';
import type { DumpRow } from './adapter.ts';

const NAMES = ['trainer.toml', 'rl.toml'];

/** The loss that the run near `OUTPUT/token_exports/step_N/rank_R.jsonl` states; null if it is one of the user; undefined without a configuration. */
export async function statedLoss(file: string): Promise<LossSettings | null | undefined> {
  const output = dirname(dirname(dirname(file)));
  for (const folder of [join(output, 'configs'), output]) {
    for (const name of NAMES) {
      const loss = await lossIn(join(folder, name));
      if (loss !== undefined) return lossOf(loss);
    }
  }
  return undefined;
}

/** Undefined for a file that cannot be read or has no section of the loss. */
async function lossIn(file: string): Promise<Settings | undefined> {
  const bytes = await readSmall(file);
  if (bytes === undefined) return undefined;
  const { parse, TomlError } = await import('smol-toml');
  try {
    const whole = parse(Buffer.from(bytes).toString('utf8'));
    return settingsOf((settingsOf(whole.trainer) ?? whole).loss);
  } catch (error) {
    if (error instanceof TomlError) return undefined;
    throw error;
  }
}

function lossOf(loss: Settings): LossSettings | null {
  const { type = 'default' } = loss;
  const number = (key: string) => (typeof loss[key] === 'number' ? loss[key] : undefined);
  const taus = { klTau: number('kl_tau'), advTau: number('adv_tau') };
  if (type === 'default') {
    const limits = { clipLow: number('dppo_mask_low'), clipHigh: number('dppo_mask_high') };
    return { name: 'prime-rl', params: present({ ...limits, ...taus }) };
  }
  if (type === 'ipo')
    return { name: 'prime-rl-ipo', params: present({ threshold: number('ipo_threshold'), ...taus }) };
  return null;
}

/** prime-rl's default threshold, and the rounding of a probability's change near it. */
const THRESHOLD = 0.2;
const NEAR = 1e-5;

/**
 * The default loss by its flags: prime-rl's default thresholds, or others if those explain every flag and the defaults do not. Undefined
 * for another loss, whose flags are null.
 */
export function inferredLoss(rows: readonly DumpRow[]): LossSettings | undefined {
  if (!rows.every(({ columns }) => columns.reportedClipped !== undefined)) return undefined;
  const limits = { clipHigh: { least: 0, most: Infinity }, clipLow: { least: 0, most: Infinity } };
  for (const { columns } of rows) {
    const { mask, logProb, rolloutLogProb, reportedAdvantage, reportedClipped } = columns;
    reportedClipped?.forEach((flag, at) => {
      if (mask?.[at] === 0) return;
      const change = Math.exp(logProb?.[at] ?? Number.NaN) - Math.exp(rolloutLogProb?.[at] ?? Number.NaN);
      const isUp = (reportedAdvantage?.[at] ?? 0) > 0;
      const limit = limits[isUp ? 'clipHigh' : 'clipLow'];
      const moved = isUp ? change : -change;
      if (flag === 1) limit.most = Math.min(limit.most, moved);
      else limit.least = Math.max(limit.least, moved);
    });
  }
  const entries = Object.entries(limits).map(([key, { least, most }]) => {
    const fits = least <= THRESHOLD + NEAR && most >= THRESHOLD - NEAR;
    return [
      key,
      fits || least >= most ? THRESHOLD : most === Infinity ? least + NEAR : (least + most) / 2,
    ] as const;
  });
  return { name: 'prime-rl', params: Object.fromEntries(entries.filter(([, value]) => value !== THRESHOLD)) };
}
