/** The estimators of known trainers: which arithmetic each of their settings names, and the line that says so. */

import { fingerprint } from '../kernel/estimators/fingerprint.ts';
import type { AnyParameters, ParameterValue } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import table from './trainers.json' with { type: 'json' };

/** Settings of a trainer by name. */
export type TrainerSettings = Readonly<Record<string, unknown>>;

/** A value that a setting can have, or several; null: the setting is omitted. */
type Allowed = ParameterValue | null | readonly (ParameterValue | null)[];

/** One setting of one trainer. */
export interface KnownForm {
  /** Trainer and form, e.g. `trl/grpo`. */
  readonly id: string;
  readonly trainer: string;
  /** The trainer's own name for it, with the settings that select it. */
  readonly setting: string;
  readonly estimator: EstimatorName;
  /** Parameters other than the estimator's defaults. */
  readonly params: AnyParameters;
  /** File and line at the commit of {@link COMMITS}. */
  readonly source: string;
  /** The settings that select the form, in the trainer's names; one of the entries is enough. Absent: no settings are read. */
  readonly when?: readonly Readonly<Record<string, Allowed>>[];
  /** Parameters that are the value of a setting, by the setting's name. */
  readonly from?: Readonly<Record<string, string>>;
}

/**
 * What a trainer's settings mean, by trainer; those with most users first. `before_1_6` says that the settings are those of an older TRL,
 * `tokens` that the rewards and advantages of each token are recorded; all other names of settings are the trainers'.
 */
const TRAINERS = table as unknown as Readonly<
  Record<string, { repository: string; commit: string; forms: (Omit<KnownForm, 'id'> & { name: string })[] }>
>;

/** Repository and commit of each trainer's sources. */
export const COMMITS: Readonly<Record<string, readonly [repository: string, commit: string]>> =
  Object.fromEntries(
    Object.entries(TRAINERS).map(([trainer, { repository, commit }]) => [trainer, [repository, commit]]),
  );

/** All known forms, the trainers with most users first. */
export const KNOWN_FORMS: readonly KnownForm[] = Object.entries(TRAINERS).flatMap(([trainer, { forms }]) =>
  forms.map(({ name, ...form }) => ({ ...form, id: `${trainer}/${name}`, trainer })),
);

/** The form of an id. Throws a RangeError for an unknown id. */
export function knownForm(id: string): KnownForm {
  const found = KNOWN_FORMS.find((one) => one.id === id);
  if (found === undefined) throw new RangeError(`no known form ${id}`);
  return found;
}

/** The form that a trainer's settings select, with parameters from the settings. Undefined if no form is known for them. */
export function formOfSettings(trainer: string, settings: TrainerSettings): KnownForm | undefined {
  const found = KNOWN_FORMS.find(
    (form) =>
      form.trainer === trainer &&
      form.when?.some((one) =>
        Object.entries(one).every(([key, allowed]) =>
          [allowed].flat().some((value) => isSame(settings[key], value)),
        ),
      ),
  );
  if (found === undefined) return undefined;
  const stated = Object.entries(found.from ?? {}).filter(([, key]) => (settings[key] ?? null) !== null);
  const values = stated.map(([parameter, key]) => [parameter, settings[key]]);
  return { ...found, params: { ...found.params, ...Object.fromEntries(values) } };
}

/** Some configurations have words for flags, some versions of a trainer flags for words: `True`, `true` and true are the same. */
function isSame(given: unknown, allowed: ParameterValue | null): boolean {
  if (given === undefined || given === null || allowed === null) return (given ?? null) === allowed;
  return String(given).toLowerCase() === String(allowed).toLowerCase();
}

/** Repository, commit, file and line of a form. */
export function sourceOf({ trainer, source }: KnownForm): string {
  const [repository, commit] = COMMITS[trainer]!;
  return `${repository}@${commit}:${source}`;
}

/** The fingerprint of a known form: equal for forms of the same arithmetic. */
export function formFingerprint({ estimator, params }: KnownForm): string {
  return fingerprint(estimator, params as never);
}
