import { counted } from 'command-kit/plural';
import { present } from '../base/present.ts';
import { type Batch, type BatchEstimator, usesOf } from '../format/batch.ts';
import { formOfSettings, KNOWN_FORMS, knownForm, type TrainerSettings } from '../identify/fingerprints.ts';
import { estimatorOfForm } from '../identify/identify.ts';
import { finding } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { DumpStep, Names } from './adapter.ts';

/** The estimator of a known form, by its id. */
export function estimatorOfId(id: string): BatchEstimator {
  return estimatorOfForm(knownForm(id));
}

/** The estimator that a trainer's settings select; undefined if none is known for them. */
export function estimatorOfSettings(trainer: string, settings: TrainerSettings): BatchEstimator | undefined {
  const form = formOfSettings(trainer, settings);
  return form && estimatorOfForm(form);
}

/** The estimators of a trainer that the table of known forms lists, its default first; without those of states, which no dump has. */
export function formsOf(trainer: string): BatchEstimator[] {
  const all = KNOWN_FORMS.filter((form) => form.trainer === trainer).map(estimatorOfForm);
  return all.filter((estimator) => !usesOf(estimator).observation);
}

/** A step as a batch of the estimator. A row is one response; rewards count as its score and its only step's reward. */
export function batchOf(step: DumpStep, estimator: BatchEstimator): Batch {
  const rows = step.reward.length;
  const trajectory = step.trajectory ?? ownNames(rows);
  const { trainingStep, groupSize } = step;
  const perRow = step.trajectory === undefined;
  return {
    name: step.name,
    rows,
    estimator,
    provenance: present({ trainingStep, groupSize }),
    group: step.group.ids,
    groupNames: step.group.names,
    trajectory: trajectory.ids,
    trajectoryNames: trajectory.names,
    observationLabel: String,
    tokenLevelRewardSum: step.reward,
    ...(perRow ? { step: new Int32Array(rows), reward: step.reward } : {}),
    ...present({
      rewards: step.rewards,
      responseLength: step.responseLength,
      tokens: step.tokens,
      scoreError: step.rewardError,
      reportedAdvantage: step.advantage?.map(Math.fround),
      unreported: step.unreported,
    }),
  };
}

/** Dense ids of texts, by first appearance. */
export function namesOf(texts: readonly string[]): Names {
  const idOf = new Map<string, number>();
  const ids = Int32Array.from(texts, (text) => {
    const id = idOf.get(text) ?? idOf.size;
    idOf.set(text, id);
    return id;
  });
  return { ids, names: [...idOf.keys()] };
}

function ownNames(rows: number): Names {
  const ids = Int32Array.from({ length: rows }, (_, row) => row);
  return { ids, names: Array.from(ids, (row) => `row ${row}`) };
}

/** The names of the ids that `ids` still holds, renumbered densely. */
export function compact({ ids, names }: Names): Names {
  return namesOf(Array.from(ids, (id) => names[id]!));
}

/** The finding for rows whose tokens have different advantages, if there are any. */
export function perToken(rows: readonly number[]): Finding[] {
  if (rows.length === 0) return [];
  return [
    finding(
      'advantage-per-token',
      `In ${counted(rows.length, 'row')} the tokens have different advantages.`,
      rows,
    ),
  ];
}
