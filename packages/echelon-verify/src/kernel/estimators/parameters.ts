/** What the parameters of an estimator can be: kinds, ranges, defaults. Everything else derives from these rules. */

/** A value that a parameter can have. */
export type ParameterValue = number | boolean | string;

/** Parameters by name, whichever estimator they belong to. */
export type AnyParameters = Readonly<Record<string, ParameterValue>>;

interface AnyRule {
  /** What the parameter decides, in one sentence. */
  readonly doc: string;
  /** A batch must state it, since no value is usual. */
  readonly mustBeStated?: true;
  /** Another name by which a batch may state it. */
  readonly alias?: string;
}

export interface NumberRule extends AnyRule {
  readonly kind: 'number';
  readonly default: number;
  readonly least?: number;
  readonly most?: number;
  readonly integer?: true;
  /** The parameter whose value it has if omitted. */
  readonly sameAs?: string;
}

export interface FlagRule extends AnyRule {
  readonly kind: 'flag';
  readonly default: boolean;
}

export interface ChoiceRule<C extends string | number = string | number> extends AnyRule {
  readonly kind: 'choice';
  readonly choices: readonly C[];
  readonly default: C;
}

/** The rule of one parameter. */
export type ParameterRule = NumberRule | FlagRule | ChoiceRule;

/** The rules of an estimator, by parameter, in the order in which the parameters are documented. */
export type ParameterRules = Readonly<Record<string, ParameterRule>>;

/** The parameters that some rules describe. */
export type ParametersOf<R> = { readonly [K in keyof R]: ValueOf<R[K]> };

type ValueOf<R> = R extends NumberRule
  ? number
  : R extends FlagRule
    ? boolean
    : R extends ChoiceRule<infer C>
      ? C
      : never;

/** All parameters: those given, and the defaults of the omitted ones. */
export function completeParameters<R extends ParameterRules>(
  rules: R,
  given: Partial<ParametersOf<R>> = {},
): ParametersOf<R> {
  const values: Readonly<Record<string, unknown>> = given;
  const defaults = Object.entries(rules).map(([key, rule]) => {
    const source = rule.kind === 'number' && rule.sameAs !== undefined ? values[rule.sameAs] : undefined;
    return [key, source ?? rule.default];
  });
  return { ...Object.fromEntries(defaults), ...given } as ParametersOf<R>;
}

/**
 * The parameters with some of them changed; changes of parameters that the rules do not have are ignored. A parameter
 * that has the value of another (`sameAs`) keeps to it.
 */
export function changeParameters(
  rules: ParameterRules,
  parameters: AnyParameters,
  changes: Readonly<Record<string, ParameterValue | undefined>>,
): AnyParameters {
  const changed = Object.entries(rules).map(([key, rule]): [string, ParameterValue] => {
    const source = rule.kind === 'number' ? rule.sameAs : undefined;
    const follows = source !== undefined && parameters[key] === parameters[source];
    const own = changes[key] ?? (rule.alias === undefined ? undefined : changes[rule.alias]);
    return [key, own ?? (follows ? changes[source] : undefined) ?? parameters[key]!];
  });
  return Object.fromEntries(changed);
}

/** True if the rule allows the value. */
export function isAllowed(rule: ParameterRule, value: unknown): value is ParameterValue {
  if (rule.kind === 'flag') return typeof value === 'boolean';
  if (rule.kind === 'choice') return rule.choices.some((choice) => choice === value);
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, integer } = rule;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least || value > most) return false;
  return integer === undefined || Number.isInteger(value);
}

/** What the rule allows, in words. */
export function allowedInWords(rule: ParameterRule): string {
  if (rule.kind === 'flag') return 'true or false';
  if (rule.kind === 'choice') return `one of ${rule.choices.join(', ')}`;
  const kind = rule.integer ? 'an integer' : 'a number';
  if (rule.least !== undefined && rule.most !== undefined)
    return `${kind} from ${rule.least} to ${rule.most}`;
  return rule.least === undefined ? kind : `${kind} of ${rule.least} or more`;
}
