import { nearestName } from '../../core/nearest.ts';
import { ESTIMATOR_NAMES, isEstimatorName } from '../../kernel/estimators.ts';
import { MAX_HISTORY_LENGTH } from '../../kernel/steps.ts';
import type { BatchEstimator, BatchProvenance } from './batch.ts';
import type { Place } from './json-columns.ts';
import { faultAt, invalidAt } from './json-columns.ts';

/** An object of the file, its values not yet looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The keys that `params` may have. */
const PARAMETER_KEYS = [
  'estimator',
  'historyLength',
  'mode',
  'lengthWeightAlpha',
  'baseGroup',
  'stepAdvantageWeight',
  'normalizeByStd',
  'gamma',
  'invalidActionPenalty',
  'epsilon',
  'groupSize',
  'deviation',
  'statistics',
  'precision',
  'forms',
] as const;

/** What else the batch holds, as far as it decides which parameters must be stated. */
export interface ParameterNeeds {
  /** The returns are computed or checked, so gamma and the penalty must be stated. */
  readonly returns: boolean;
}

/**
 * The stated estimator. historyLength (HGPO) and mode (HGPO, GiGPO) must be there, gamma and
 * invalidActionPenalty where returns depend on them; the rest has the recipe's values. A key that the format
 * does not have is an error: ignoring it could mean another estimator.
 */
export function readEstimator(place: Place, params: JsonObject, needs: ParameterNeeds): BatchEstimator {
  for (const key of Object.keys(params)) refuseUnknown(place, key);
  const name = params.estimator ?? 'hgpo';
  if (typeof name !== 'string' || !isEstimatorName(name)) {
    throw invalidAt(place, `${path(place)}.estimator`, oneOf(ESTIMATOR_NAMES), name);
  }
  const number = (key: string, range: NumberRange) => numberParameter(place, params, { key, ...range });
  const flag = (key: string, otherwise: boolean) => flagParameter(place, params, key, otherwise);
  const modes = ['mean_std_norm', 'mean_norm'] as const;
  const stepwise = usesReturns(name);
  const deviation = choice(place, params, 'deviation', ['population', 'sample'] as const);
  const statistics = choice(place, params, 'statistics', ['rows', 'trajectories'] as const);
  const forms = choice(place, params, 'forms', ['recipe', 'any'] as const);
  return {
    name,
    historyLength: number('historyLength', {
      least: 0,
      most: MAX_HISTORY_LENGTH,
      integer: true,
      ...(name === 'hgpo' ? {} : { otherwise: 0 }),
    }),
    mode:
      choice(place, params, 'mode', modes) ??
      (stepwise ? required(place, `${path(place)}.mode`, oneOf(modes)) : 'mean_std_norm'),
    lengthWeightAlpha: number('lengthWeightAlpha', { least: -1000, most: 1000, otherwise: 1 }),
    baseGroup: flag('baseGroup', false),
    stepAdvantageWeight: number('stepAdvantageWeight', { otherwise: 1 }),
    normalizeByStd: flag('normalizeByStd', true),
    gamma: number('gamma', needs.returns ? {} : { otherwise: 1 }),
    invalidActionPenalty: number('invalidActionPenalty', needs.returns ? {} : { otherwise: 0 }),
    epsilon: number('epsilon', { least: 0, otherwise: 1e-6 }),
    ...(deviation === undefined ? {} : { deviation }),
    ...(statistics === undefined ? {} : { statistics }),
    precision: choice(place, params, 'precision', ['float32', 'float64'] as const) ?? 'float32',
    ...(forms === undefined ? {} : { forms }),
  };
}

/** True where the estimator of this name starts from step returns. */
export function usesReturns(name: unknown): boolean {
  return name === 'hgpo' || name === 'gigpo';
}

/** What the batch states about where it comes from; `params.groupSize` counts too. */
export function readProvenance(place: Place, batch: JsonObject): BatchProvenance | undefined {
  const stated = batch.provenance ?? {};
  if (!isObject(stated)) throw invalidAt(place, 'provenance', 'an object', stated);
  const params = isObject(batch.params) ? batch.params : {};
  const provenance: Record<string, string | number> = {};
  for (const key of ['experiment', 'producer']) {
    const value = stated[key];
    if (value === undefined || value === '') continue;
    if (typeof value !== 'string') throw invalidAt(place, `provenance.${key}`, 'a text', value);
    provenance[key] = value;
  }
  for (const key of ['attempt', 'trainingStep', 'groupSize', 'groups', 'rowsCollected']) {
    const own = stated[key];
    const field = own === undefined && key === 'groupSize' ? `${path(place)}.${key}` : `provenance.${key}`;
    const value = own === undefined && key === 'groupSize' ? params.groupSize : own;
    if (value === undefined || value === null) continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      throw invalidAt(place, field, 'an integer of 0 or more', value);
    }
    // As on the wire, 0 says nothing.
    if (value > 0) provenance[key] = value;
  }
  return Object.keys(provenance).length === 0 ? undefined : (provenance as BatchProvenance);
}

/** True for a JSON object (no array, no null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function path(place: Place): string {
  return place.params ?? 'params';
}

function refuseUnknown(place: Place, key: string): void {
  if ((PARAMETER_KEYS as readonly string[]).includes(key)) return;
  const near = nearestName(key, PARAMETER_KEYS);
  throw faultAt(place, {
    code: 'bad-key',
    field: `${path(place)}.${key}`,
    expected:
      near === undefined ? `only ${PARAMETER_KEYS.join(', ')}` : `no such key (did you mean ${near}?)`,
  });
}

interface NumberRange {
  readonly least?: number;
  readonly most?: number;
  readonly integer?: boolean;
  readonly otherwise?: number;
}

function numberParameter(place: Place, params: JsonObject, rule: NumberRange & { key: string }): number {
  const { key, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, integer = false } = rule;
  const value = params[key];
  const kind = integer ? 'an integer' : 'a number';
  const orMore = Number.isFinite(least) ? ` of ${least} or more` : '';
  const upTo = Number.isFinite(most) ? ` from ${least} to ${most}` : orMore;
  if (value === undefined || value === null) {
    return rule.otherwise ?? required(place, `${path(place)}.${key}`, `${kind}${upTo}`);
  }
  const fits = typeof value === 'number' && Number.isFinite(value) && value >= least && value <= most;
  if (!fits || (integer && !Number.isInteger(value)))
    throw invalidAt(place, `${path(place)}.${key}`, `${kind}${upTo}`, value);
  return value;
}

function flagParameter(place: Place, params: JsonObject, key: string, otherwise: boolean): boolean {
  const value = params[key] ?? otherwise;
  if (typeof value !== 'boolean') throw invalidAt(place, `${path(place)}.${key}`, 'true or false', value);
  return value;
}

function choice<C extends string>(
  place: Place,
  params: JsonObject,
  key: string,
  choices: readonly C[],
): C | undefined {
  const value = params[key];
  if (value === undefined || value === null) return undefined;
  const found = choices.find((known) => known === value);
  if (found === undefined) throw invalidAt(place, `${path(place)}.${key}`, oneOf(choices), value);
  return found;
}

function required(place: Place, field: string, expected: string): never {
  throw faultAt(place, { code: 'missing', field, expected, found: 'nothing' });
}

function oneOf(choices: readonly string[]): string {
  return `one of ${choices.join(', ')}`;
}
