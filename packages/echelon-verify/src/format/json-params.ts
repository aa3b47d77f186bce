import { nearestName } from 'command-kit/nearest';
import type { Forms } from '../arithmetic/arithmetic.ts';
import { PRECISIONS } from '../arithmetic/arithmetic.ts';
import type {
  AnyParameters,
  ChoiceRule,
  NumberRule,
  ParameterRule,
  ParameterValue,
} from '../kernel/estimators/parameters.ts';
import { allowedInWords, completeParameters, isAllowed } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import { estimatorNames, estimatorOf, isEstimatorName } from '../kernel/estimators/registry.ts';
import { type BatchEstimator, type BatchProvenance, PREPARATIONS } from './batch.ts';
import type { Place } from './json-columns.ts';
import { faultAt, invalidAt } from './json-columns.ts';

/** An object of the file, its values not yet looked at. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** What a batch states beside the estimator's parameters, in `params` as well. */
const GAMMA: NumberRule = { kind: 'number', default: 1, doc: 'Discount of one step.' };
const PENALTY: NumberRule = { kind: 'number', default: 0, doc: 'Cost of an invalid action.' };
const PRECISION: ChoiceRule<BatchEstimator['precision']> = {
  kind: 'choice',
  choices: PRECISIONS,
  default: 'float32',
  doc: 'The arithmetic of the reported columns.',
};
const FORMS: ChoiceRule<Forms> = {
  kind: 'choice',
  choices: ['recipe', 'any'],
  default: 'any',
  doc: 'The algebraic forms of the formula that the trainer may have evaluated.',
};
const BATCH_KEYS = ['estimator', 'gamma', 'invalidActionPenalty', 'groupSize', 'precision', 'forms'];

/**
 * The stated estimator. `needs.returns`: the returns are computed or checked. What its rules say must be stated, must be there; gamma and invalidActionPenalty too if returns
 * depend on them; the rest has the recipe's values. A key that no estimator has is an error: ignoring it could mean
 * another estimator.
 */
export function readEstimator(
  place: Place,
  params: JsonObject,
  needs: { readonly returns: boolean },
): BatchEstimator {
  const known = new Set([...BATCH_KEYS, ...estimatorNames().flatMap(parameterKeys)]);
  for (const key of Object.keys(params)) refuseUnknown(place, key, known);
  const name = params.estimator ?? 'hgpo';
  if (typeof name !== 'string' || !isEstimatorName(name)) {
    throw invalidAt(place, `${path(place)}.estimator`, `one of ${estimatorNames().join(', ')}`, name);
  }
  const own = readParameters(place, params, name);
  const others = readOthers(place, params, name);
  const ofReturns = (key: string, rule: NumberRule) =>
    read(place, params, key, needs.returns ? { ...rule, mustBeStated: true } : rule) ?? rule.default;
  const forms = read(place, params, 'forms', FORMS);
  return {
    name,
    params: own,
    ...(others === undefined ? {} : { others }),
    gamma: ofReturns('gamma', GAMMA),
    invalidActionPenalty: ofReturns('invalidActionPenalty', PENALTY),
    precision: read(place, params, 'precision', PRECISION) ?? PRECISION.default,
    ...(forms === undefined ? {} : { forms }),
  };
}

/** Every parameter of the estimator. */
function readParameters(place: Place, params: JsonObject, name: EstimatorName): BatchEstimator['params'] {
  const rules = estimatorOf(name).parameters;
  const stated: Record<string, ParameterValue> = {};
  for (const [key, rule] of Object.entries(rules)) {
    const from = isStated(params[key]) || rule.alias === undefined ? key : rule.alias;
    const value = read(place, params, from, rule);
    if (value !== undefined) stated[key] = value;
  }
  return completeParameters(rules, stated) as BatchEstimator['params'];
}

/** What is stated for other estimators; undefined if nothing is. */
function readOthers(place: Place, params: JsonObject, name: EstimatorName): AnyParameters | undefined {
  const own = new Set([...BATCH_KEYS, ...parameterKeys(name)]);
  const others: Record<string, ParameterValue> = {};
  for (const key of Object.keys(params)) {
    if (own.has(key) || !isStated(params[key])) continue;
    const rules = estimatorNames().flatMap((other) => rulesOfKey(other, key));
    const rule = rules.find((one) => isAllowed(one, params[key])) ?? rules[0]!;
    others[key] = read(place, params, key, rule)!;
  }
  return Object.keys(others).length === 0 ? undefined : others;
}

/** The names by which a batch can state an estimator's parameters. */
function parameterKeys(name: EstimatorName): string[] {
  return Object.entries(estimatorOf(name).parameters).flatMap(([key, { alias }]) =>
    alias === undefined ? [key] : [key, alias],
  );
}

function rulesOfKey(name: EstimatorName, key: string): ParameterRule[] {
  return Object.entries(estimatorOf(name).parameters)
    .filter(([own, { alias }]) => own === key || alias === key)
    .map(([, rule]) => rule);
}

/**
 * True if the estimator of this name starts from step returns, with its usual parameters. False for a name that no
 * estimator has.
 */
export function usesReturns(name: unknown): boolean {
  if (typeof name !== 'string' || !isEstimatorName(name)) return false;
  const estimator = estimatorOf(name);
  return estimator.uses(completeParameters(estimator.parameters) as AnyParameters).stepReturn;
}

/** What the batch states about its origin; `params.groupSize` counts too. */
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
  const { preparation } = stated;
  if (isStated(preparation) && preparation !== '') {
    const known = PREPARATIONS.find((one) => one === preparation);
    if (known === undefined)
      throw invalidAt(place, 'provenance.preparation', `one of ${PREPARATIONS.join(', ')}`, preparation);
    provenance.preparation = known;
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

function refuseUnknown(place: Place, key: string, known: ReadonlySet<string>): void {
  if (known.has(key)) return;
  const near = nearestName(key, [...known]);
  throw faultAt(place, {
    code: 'bad-key',
    field: `${path(place)}.${key}`,
    expected: near === undefined ? `only ${[...known].join(', ')}` : `no such key (did you mean ${near}?)`,
  });
}

function isStated(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The stated value, or undefined if it may be omitted and is. */
function read<R extends ParameterRule>(
  place: Place,
  params: JsonObject,
  key: string,
  rule: R,
): R['default'] | undefined {
  const value = params[key];
  const field = `${path(place)}.${key}`;
  if (isStated(value)) {
    if (!isAllowed(rule, value)) throw invalidAt(place, field, allowedInWords(rule), value);
    return value;
  }
  if (rule.mustBeStated) {
    throw faultAt(place, { code: 'missing', field, expected: allowedInWords(rule), found: 'nothing' });
  }
  return undefined;
}
