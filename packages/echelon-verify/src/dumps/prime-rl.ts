/**
 * prime-rl with its file monitor: `rollouts/step_N/train/all/traces.jsonl` has the rewards of all episodes, `…/effective/…` those
 * that were trained, with advantages. A group can be spread over the files of several steps; it counts to the last of them.
 */

import { counted } from 'command-kit/plural';
import { groupedBy } from '../base/grouped-by.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { finding, some } from '../report/findings.ts';
import type { DumpAdapter, DumpStep } from './adapter.ts';
import { advantagesOf, type CellPlace, numberIn, rewardsOf } from './cells.ts';
import { type Settings, settingsOf } from './config-yaml.ts';
import { formsOf, namesOf } from './dump-batch.ts';
import { findPrimeRlConfig } from './prime-rl-config.ts';
import { pickedLines } from './records.ts';
import { openSource } from './source.ts';

const SELECTION = {
  id: true,
  group: { id: true },
  errors: true,
  traces: {
    id: true,
    rewards: true,
    agent: { name: true, trainable: true },
    info: { advantage: true },
    nodes: { advantages: true, mask: true },
  },
} as const;

/** See the head of this file. */
export const PRIME_RL: DumpAdapter = {
  name: 'prime-rl',
  title: 'prime-rl rollouts (folder of JSON lines)',
  matches: ({ path, keys }) => keys?.get('traces') === 'array' && keys.has('group') && PLACE.test(path),
  estimators: formsOf('prime-rl'),
  runOf: (file) => file.replace(STEP_FOLDER, ''),
  find: async (file, once = (_key, read) => read()) =>
    await once(file.replace(STEP_FOLDER, ''), () => findPrimeRlConfig(file)),
  async *steps(files) {
    const groups = new Map<string, Group>();
    for (const file of files) {
      const [, step = '0', part = 'all'] = PLACE.exec(file) ?? [];
      await using source = await openSource(file);
      const seen = new Set<string>();
      let number = 0;
      for await (const line of pickedLines(source, SELECTION)) {
        number++;
        for (const trace of tracesOf(line, { file, number })) {
          const fault = faultOf(trace, seen);
          if (fault !== undefined) throw new BatchFormatError({ ...fault, file, field: `record ${number}` });
          seen.add(trace.id!);
          const place = { file, step: Number(step), isTrained: part === 'effective' };
          addTrace(groups, trace as Identified, place);
        }
      }
    }
    yield* stepsOf(groups);
  },
};

const PLACE = /step_(\d+)[/\\]train[/\\](all|effective)[/\\]/;
/** The part of a path below the folder of the run's rollouts. */
const STEP_FOLDER = /[/\\]?step_\d+[/\\]train[/\\].*$/;

interface Trace {
  readonly id: string | undefined;
  readonly group: string | undefined;
  readonly reward: number | undefined;
  readonly advantage: number | undefined;
}

type Identified = Trace & { readonly id: string; readonly group: string };

/** What is wrong with the ids of a trace: they join it with the same trace in the other file of the step. */
function faultOf({ id, group }: Trace, seen: ReadonlySet<string>) {
  if (group === undefined)
    return { code: 'missing', expected: 'a group with an id', found: 'nothing' } as const;
  if (id === undefined)
    return { code: 'missing', expected: 'an id of the trace or its episode', found: 'nothing' } as const;
  if (!seen.has(id)) return undefined;
  return {
    code: 'invalid',
    expected: 'one trace for each id',
    found: `another trace ${JSON.stringify(id)}`,
  } as const;
}

/** The traces of one group by id. Numbers only: a run's groups fit into memory. */
interface Group {
  step: number;
  file: string;
  readonly reward: Map<string, number | undefined>;
  /** Of the trained ones; undefined for one without an advantage. */
  readonly advantage: Map<string, number | undefined>;
}

function addTrace(
  groups: Map<string, Group>,
  { id, group: name, reward, advantage }: Identified,
  { file, step, isTrained }: { file: string; step: number; isTrained: boolean },
): void {
  const group = groups.get(name) ?? { step, file, reward: new Map(), advantage: new Map() };
  groups.set(name, group);
  if (step >= group.step) Object.assign(group, { step, file });
  group.reward.set(id, reward);
  if (isTrained) group.advantage.set(id, advantage);
}

/** The traces of an episode that enter the mean: without errors, of agents that are trained. */
function tracesOf(line: unknown, { file, number }: { file: string; number: number }): Trace[] {
  const place = (name: string) => ({ file, field: `record ${number}, ${name}` });
  const episode = objectOf(line);
  if (Array.isArray(episode.errors) && episode.errors.length > 0) return [];
  const group = idOf(objectOf(episode.group).id);
  const traces = Array.isArray(episode.traces) ? episode.traces.map(objectOf) : [];
  return traces
    .filter(({ agent }) => objectOf(agent).trainable !== false)
    .map((trace, index) => {
      const { name } = objectOf(trace.agent);
      return {
        id: idOf(trace.id) ?? (idOf(episode.id) && `${idOf(episode.id)}/${index}`),
        group: group === undefined || name === undefined ? group : `${group}/${String(name)}`,
        reward: rewardOf(trace.rewards, place('rewards')),
        advantage: advantageOf(trace, place('advantage')),
      };
    });
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Σ score · weight. */
function rewardOf(rewards: unknown, place: CellPlace): number | undefined {
  let sum = 0;
  for (const { score, weight } of Object.values(objectOf(rewards)).map(objectOf)) {
    const own = numberIn(score, place);
    const factor = numberIn(weight, place) ?? 1;
    if (own === undefined && factor !== 0) return undefined;
    sum += (own ?? 0) * factor;
  }
  return sum;
}

/** The trace's own advantage, else that of its first trained token. */
function advantageOf({ info, nodes }: Settings, place: CellPlace): number | undefined {
  const own = numberIn(objectOf(info).advantage, place);
  if (own !== undefined) return own;
  for (const { advantages, mask } of Array.isArray(nodes) ? nodes.map(objectOf) : []) {
    if (!Array.isArray(advantages)) continue;
    const at = Array.isArray(mask) ? mask.findIndex((m) => m === true || m === 1) : 0;
    if (at >= 0) return numberIn(advantages[at], place);
  }
  return undefined;
}

function* stepsOf(groups: ReadonlyMap<string, Group>): Generator<DumpStep> {
  const bySteps = groupedBy(groups, ([, { step }]) => step);
  for (const [step, own] of [...bySteps].sort(([a], [b]) => a - b)) yield stepOf(step, own);
}

/** Traces without advantage were dropped as zero if theirs is the group's mean; else their group is not verified. */
function stepOf(step: number, groups: readonly (readonly [string, Group])[]): DumpStep {
  const whole = groups.filter(([, group]) => isWhole(group));
  const dropped = groups.filter(([, group]) => !isWhole(group)).map(([name]) => name);
  const trained = groups.some(([, { advantage }]) =>
    [...advantage.values()].some((own) => own !== undefined),
  );
  const kept = trained ? whole : groups;
  const rows = kept.flatMap(([name, { reward, advantage }]) =>
    [...reward].map(([id, own]) => ({
      name,
      reward: own,
      advantage: advantage.has(id) ? advantage.get(id) : 0,
    })),
  );
  const text = `${counted(dropped.length, 'group')} (${some(dropped, 3)}).`;
  return {
    name: `step ${step}`,
    file: groups[0]![1].file,
    trainingStep: step,
    group: namesOf(rows.map(({ name }) => name)),
    ...rewardsOf(rows.map(({ reward }) => reward)),
    ...(trained ? advantagesOf(rows.map(({ advantage }) => advantage)) : {}),
    findings: trained && dropped.length > 0 ? [finding('groups-untrained', text)] : [],
  };
}

/** True if every trace has an advantage, but for those whose reward is the mean. */
function isWhole({ reward, advantage }: Group): boolean {
  const mean = [...reward.values()].reduce<number>((sum, own = Number.NaN) => sum + own / reward.size, 0);
  return [...reward].every(
    ([id, own = Number.NaN]) =>
      advantage.has(id) || Math.abs(own - mean) <= 1e-6 * Math.max(1, Math.abs(mean)),
  );
}

function objectOf(value: unknown): Settings {
  return settingsOf(value) ?? {};
}
