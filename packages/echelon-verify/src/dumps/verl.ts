/**
 * verl with `trainer.rollout_data_dir`: `{step}.jsonl` with one output a line. V1 writes `uid` as `{prompt}_{session}_{index}`
 * and takes the last output of each session; the trainer before it writes no group, so equal inputs are one. No advantages.
 */

import { dirname } from 'node:path';
import { counted } from 'command-kit/plural';
import { present } from '../base/present.ts';
import { finding, some } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { DumpAdapter, DumpOptions, DumpStep, FoundConfiguration } from './adapter.ts';
import { findConfigYaml, type Settings, settingsOf } from './config-yaml.ts';
import { estimatorOfSettings, formsOf, namesOf } from './dump-batch.ts';
import { hasColumns, tableSteps } from './table.ts';

/** See the head of this file. */
export const VERL: DumpAdapter = {
  name: 'verl',
  title: 'verl rollouts (JSON lines)',
  matches: (start) => hasColumns(start, ['input', 'output', 'score', 'step']),
  estimators: formsOf('verl'),
  async *steps(files, options) {
    const columns: DumpOptions['map'] = { reward: 'score', step: 'step', ...options.map };
    const byUid = tableSteps(
      files,
      { ...options, map: { group: 'uid', ...columns } },
      { otherwise: 'input' },
    );
    for await (const step of byUid) yield lastOfSessions(step);
  },
  find: async (file, once = (_key, read) => read()) =>
    await once(dirname(file), async () => {
      const found = await findConfigYaml(file, 'algorithm');
      const estimator = found && estimatorOf(settingsOf(found.settings.algorithm) ?? {});
      return estimator && { file: found.file, options: {}, estimator };
    }),
};

/** Undefined if the file does not state it: another file, from which it inherits, may. */
function estimatorOf(algorithm: Settings): FoundConfiguration['estimator'] | undefined {
  const { adv_estimator: name, norm_adv_by_std_in_grpo: divides, use_kl_in_reward: kl, gamma } = algorithm;
  if (name === undefined || (name === 'grpo' && divides === undefined)) return undefined;
  const known = kl === true ? undefined : estimatorOfSettings('verl', algorithm);
  if (known !== undefined) return known;
  const settings = {
    adv_estimator: name,
    ...(name === 'grpo' ? { norm_adv_by_std_in_grpo: divides } : {}),
    ...(kl === true ? { use_kl_in_reward: kl } : {}),
    ...(name === 'reinforce_plus_plus' && gamma !== 1 ? { gamma } : {}),
  };
  return {
    unsupported: Object.entries(settings)
      .map(([key, value]) => `${key}=${String(value)}`)
      .join(', '),
  };
}

const UID = /^(.*)_(\d+)_(\d+)$/;

/** The step with the last output of each session only. */
function lastOfSessions(step: DumpStep): DumpStep {
  const uids = Array.from(step.group.ids, (id) => step.group.names[id]!);
  const parts = uids.map((uid) => UID.exec(uid));
  if (parts.some((part) => part === null)) return step;
  const last = new Map<string, number>();
  parts.forEach((part, row) => {
    const session = `${part![1]}_${part![2]}`;
    const known = last.get(session);
    if (known === undefined || Number(parts[known]![3]) < Number(part![3])) last.set(session, row);
  });
  const seen = new Set<string>();
  const copies = uids.filter((uid) => seen.size === seen.add(uid).size);
  const rows = [...last.values()].sort((a, b) => a - b);
  return {
    ...step,
    ...(copies.length === 0 ? {} : { findings: [...step.findings, copied(copies)] }),
    group: namesOf(rows.map((row) => parts[row]![1]!)),
    ...chosen(step, rows),
  };
}

/** The columns with these rows only. */
function chosen({ reward, unrewarded, advantage, unreported }: DumpStep, rows: readonly number[]) {
  const floats = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]!);
  const flags = (column: Uint8Array | undefined) => column && Uint8Array.from(rows, (row) => column[row]!);
  return {
    reward: floats(reward),
    ...present({
      unrewarded: flags(unrewarded),
      advantage: advantage && floats(advantage),
      unreported: flags(unreported),
    }),
  };
}

function copied(uids: readonly string[]): Finding {
  return finding(
    'row-duplicated',
    `${counted(uids.length, 'output')} with a uid that occurred before (${some(uids, 3)}).`,
  );
}
