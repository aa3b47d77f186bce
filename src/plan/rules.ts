import type { FieldProblem } from '../core/errors.ts';
import {
  EARLY_STOPPING,
  type ResolvedRule,
  type RuleCondition,
  type RuleSpec,
  WRONG_SIGNAL,
} from '../schemas/rules.ts';
import { DEFAULT_RULES, DEFAULT_WITHIN, presetRule, RULE_PRESETS } from './rule-presets.ts';

/** The rules of a spec with their defaults, presets spelled out; the default rules if the spec states none. Pure. */
export function resolveRules(rules: readonly RuleSpec[] | undefined): ResolvedRule[] {
  if (rules === undefined) return DEFAULT_RULES.map(presetRule);
  return rules.map((rule, at) => {
    const preset = rule.preset === undefined ? undefined : RULE_PRESETS[rule.preset];
    const action = rule.do ?? 'mark';
    return {
      name: nameOf(rule, at),
      when: rule.when ?? preset?.when ?? {},
      do: action,
      for: rule.for ?? preset?.for ?? 1,
      after: rule.after ?? 0,
      ...(action === 'stop-at-checkpoint' && { within: { ...DEFAULT_WITHIN, ...rule.within } }),
    };
  });
}

function nameOf(rule: RuleSpec, at: number): string {
  return rule.name ?? rule.preset ?? `rule-${at + 1}`;
}

/** What of the rules contradicts itself, beyond their schema; empty if nothing does. */
export function ruleProblems(rules: readonly RuleSpec[] | undefined): FieldProblem[] {
  const names = new Map<string, number>();
  return (rules ?? []).flatMap((rule, at) => {
    const field = `/rules/${at}`;
    const problems = [...choiceProblems(rule, field), ...conditionProblems(rule.when, `${field}/when`)];
    if (rule.within !== undefined && rule.do !== 'stop-at-checkpoint') {
      problems.push({
        field: `${field}/within`,
        message: 'has no effect without do: stop-at-checkpoint; remove it',
      });
    }
    const name = nameOf(rule, at);
    if (name === EARLY_STOPPING) {
      problems.push({
        field: `${field}/name`,
        message: "is kept for what a sweep's early stopping does; take another",
      });
    }
    const first = names.get(name);
    if (first !== undefined) {
      problems.push({
        field: `${field}/name`,
        message: `is that of /rules/${first} too (${name}); each rule needs a name of its own`,
      });
    } else names.set(name, at);
    return problems;
  });
}

function choiceProblems({ preset, when }: RuleSpec, field: string): FieldProblem[] {
  if (preset !== undefined && when !== undefined) {
    const message = 'has no effect beside preset; remove one of the two';
    return [{ field: `${field}/when`, message }];
  }
  if (preset === undefined && when === undefined) {
    return [{ field: `${field}/when`, message: 'is missing; a rule needs a condition, or a preset' }];
  }
  return [];
}

const SUBJECTS = ['metric', 'verification', 'errors'] as const;
const TESTS = ['above', 'below', 'notFinite', 'plateau'] as const;

/** A condition looks at one thing, and tests it in one way. */
function conditionProblems(when: RuleCondition | undefined, field: string): FieldProblem[] {
  if (when === undefined) return [];
  const subjects = SUBJECTS.filter((key) => when[key] !== undefined);
  const tests = TESTS.filter((key) => when[key] !== undefined);
  const [subject] = subjects;
  if (subject === undefined) {
    return [{ field, message: 'must have one of metric, verification, errors' }];
  }
  if (subjects.length > 1) {
    return [{ field, message: `must have only one of ${subjects.join(', ')}; make a rule of each` }];
  }
  if (subject === 'errors') {
    return tests.map((test) => ({
      field: `${field}/${test}`,
      message: 'has no effect on errors; remove it',
    }));
  }
  const allowed = subject === 'metric' ? TESTS : (['above', 'below'] as const);
  const wrong = tests.filter((test) => !(allowed as readonly string[]).includes(test));
  if (wrong.length > 0) {
    return wrong.map((test) => ({
      field: `${field}/${test}`,
      message: 'is a test of metrics only; remove it',
    }));
  }
  if (tests.length !== 1) {
    const came = tests.length === 0 ? 'none came' : `${tests.join(', ')} came`;
    return [{ field, message: `must have exactly one of ${allowed.join(', ')}, but ${came}` }];
  }
  return [];
}

/** A rule's condition in words: `actor/ppo_kl above 0.1, 3 times in a row`. */
export function conditionInWords({
  when,
  for: times,
  after,
}: Pick<ResolvedRule, 'when' | 'for' | 'after'>): string {
  const often = times > 1 ? `, ${times} times in a row` : '';
  const late = after > 0 ? `, after step ${after}` : '';
  return `${subjectInWords(when)}${often}${late}`;
}

function subjectInWords(when: RuleCondition): string {
  if (when.errors?.includes(WRONG_SIGNAL)) return 'a wrong training signal';
  if (when.errors !== undefined) {
    return when.errors.includes('any') ? 'any error finding' : `error finding ${when.errors.join(' or ')}`;
  }
  const subject = when.metric?.join(' or ') ?? when.verification ?? 'nothing';
  if (when.notFinite) return `${subject} not finite`;
  if (when.plateau) {
    const { window, minDelta, goal = 'max' } = when.plateau;
    return `${subject} without a ${goal === 'max' ? 'rise' : 'fall'} of more than ${minDelta} in ${window} values`;
  }
  return when.above === undefined ? `${subject} below ${when.below}` : `${subject} above ${when.above}`;
}
