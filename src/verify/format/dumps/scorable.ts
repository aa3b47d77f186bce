import { counted } from '../../../core/plural.ts';
import { finding } from '../../provenance/findings.ts';
import type { Finding } from '../../report.ts';
import type { DumpStep } from './adapter.ts';
import { compact } from './dump-batch.ts';

/**
 * The step without the rows that no reward function scored (0 in `scorable`): they are in no group's mean, and their
 * advantage must be 0.
 */
export function scorableStep(step: DumpStep, scorable: Uint8Array): DumpStep {
  const rows = Array.from(scorable.keys()).filter((row) => scorable[row] === 1);
  if (rows.length === scorable.length) return step;
  const { groupSize, ...rest } = step;
  const numbers = (column: Float64Array) => Float64Array.from(rows, (row) => column[row]!);
  return {
    ...rest,
    rowsInDump: scorable.length,
    group: compact({ ...step.group, ids: Int32Array.from(rows, (row) => step.group.ids[row]!) }),
    reward: numbers(step.reward),
    ...(step.rewardError === undefined ? {} : { rewardError: numbers(step.rewardError) }),
    ...(step.rewards === undefined
      ? {}
      : { rewards: step.rewards.map((one) => ({ ...one, value: numbers(one.value) })) }),
    ...(step.advantage === undefined ? {} : { advantage: numbers(step.advantage) }),
    ...(step.responseLength === undefined
      ? {}
      : { responseLength: Int32Array.from(rows, (row) => step.responseLength![row]!) }),
    findings: [...step.findings, ...unscorableFindings(step, scorable)],
  };
}

function unscorableFindings({ advantage }: DumpStep, scorable: Uint8Array): Finding[] {
  const rows = Array.from(scorable.keys()).filter((row) => scorable[row] === 0);
  const moved = rows.filter((row) => advantage !== undefined && advantage[row] !== 0);
  const text = `No reward function scored ${counted(rows.length, 'row')}.`;
  if (moved.length === 0) return [finding('rows-unscorable', text, rows)];
  const more = `${text} ${counted(moved.length, 'row')} of them have an advantage, row ${moved[0]} ${advantage?.[moved[0]!]}.`;
  return [finding('unscorable-rewarded', more, moved)];
}
