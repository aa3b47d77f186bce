import { wrongBecause } from 'echelon-verify/report';
import type { ControllerEvent, ExperimentEvent, MetricValue } from '../core/events.ts';
import {
  type ResolvedRule,
  type RuleAction,
  type RuleCondition,
  type RuleFired,
  WRONG_SIGNAL,
} from '../schemas/rules.ts';
import { holds, type Subject } from './rule-conditions.ts';
import { conditionInWords } from './rules.ts';

/*
 * What always holds: the result depends on the rules, the memory and the entries alone, so that any dispatcher that evaluates the
 * same entries again comes to the same; memory is bounded by the rules, not by the length of the run.
 */

/** An entry of the stream as rules see it. `attempt`: under which it stands. */
export interface Signal {
  attempt: number;
  at: number;
  event: ExperimentEvent;
}

/** What is remembered between two pages of the stream; JSON. */
export interface RuleMemory {
  attempts: Record<string, AttemptMemory>;
  /** A rule that fired and waits for a checkpoint. */
  waiting: Waiting | null;
}

interface Waiting {
  rule: string;
  reason: string;
  step: number;
  at: number;
  steps: number;
  minutes: number;
}

interface AttemptMemory {
  /** By rule; null: it has fired. */
  rules: Record<string, Record<string, Subject> | null>;
  /** The last complete batch. */
  batch: { batch: number; step: number } | null;
  /** Rows that were reported on or dropped, and those of them that were verified. */
  seen: number;
  verified: number;
}

/** A rule that fires now, for the first time in its attempt. */
export interface Firing extends RuleFired {
  rule: string;
  do: RuleAction;
}

/** Why the experiment is to be stopped. */
export interface StopWish {
  rule: string;
  reason: string;
}

/** What a page of the stream comes to. */
interface RulesOutcome {
  memory: RuleMemory;
  fired: Firing[];
  stop: StopWish | null;
  /** When the wait for a checkpoint ends at the latest (ms since 1970); null: nothing waits. */
  due: number | null;
}

/** Attempts that are remembered: a report may be about an earlier one. */
const ATTEMPTS_KEPT = 3;
/** Values shown as evidence. */
const VALUES_KEPT = 5;

/** The memory of an experiment of which nothing was read yet. */
export function emptyRuleMemory(): RuleMemory {
  return { attempts: {}, waiting: null };
}

/**
 * Evaluates entries in their order. `now` (ms) ends a wait for a checkpoint that lasts too long. Pure: `memory` is not
 * changed.
 */
export function evaluateRules(
  rules: readonly ResolvedRule[],
  { memory, signals, now }: { memory: RuleMemory; signals: readonly Signal[]; now: number },
): RulesOutcome {
  const state = structuredClone(memory);
  const fired: Firing[] = [];
  let stop: StopWish | null = null;
  for (const signal of signals) {
    for (const firing of observe(rules, state, signal)) {
      fired.push(firing);
      const { rule, reason, do: action } = firing;
      if (action === 'stop') stop ??= { rule, reason };
      if (action === 'stop-at-checkpoint') state.waiting ??= waitingFor(rules, firing, now);
    }
    stop ??= endOfWait(state.waiting, signal);
  }
  const { waiting } = state;
  if (waiting !== null && stop === null && now >= dueOf(waiting)) {
    stop = {
      rule: waiting.rule,
      reason: `${waiting.reason}; no checkpoint came in ${waiting.minutes} minutes`,
    };
  }
  if (stop !== null) state.waiting = null;
  return { memory: state, fired, stop, due: state.waiting && dueOf(state.waiting) };
}

/** `at` is the caller's time, since that of an event is by its node's clock. */
function waitingFor(rules: readonly ResolvedRule[], { rule, reason, step }: Firing, at: number): Waiting {
  const { steps = 1, minutes = 1 } = rules.find(({ name }) => name === rule)?.within ?? {};
  return { rule, reason, step, at, steps, minutes };
}

function dueOf({ at, minutes }: Waiting): number {
  return at + minutes * 60_000;
}

/** Whether what a rule waits for has come, or has taken too long. */
function endOfWait(waiting: Waiting | null, { event }: Signal): StopWish | null {
  if (waiting === null) return null;
  const { rule, reason } = waiting;
  if (event.type === 'checkpoint') {
    return { rule, reason: `${reason}; stopped at the checkpoint of step ${event.step}` };
  }
  if (event.type === 'metrics' && event.step >= waiting.step + waiting.steps) {
    return { rule, reason: `${reason}; no checkpoint came in ${waiting.steps} steps` };
  }
  return null;
}

function observe(rules: readonly ResolvedRule[], state: RuleMemory, signal: Signal): Firing[] {
  const { event } = signal;
  switch (event.type) {
    case 'batch':
      if (event.index === event.count - 1) {
        attemptOf(state, signal.attempt)!.batch = { batch: event.batch, step: event.step };
      }
      return [];
    case 'metrics': {
      const attempt = attemptOf(state, signal.attempt)!;
      const batch = attempt.batch?.step === event.step ? attempt.batch.batch : null;
      const place = { attempt: signal.attempt, at: signal.at, step: event.step, batch };
      return rules.flatMap((rule) => judge({ rule, attempt, place }, metricValues(rule.when, event.values)));
    }
    case 'verification': {
      const attempt = attemptOf(state, event.attempt);
      if (attempt === undefined) return [];
      if (!event.replaces) attempt.seen += event.rows;
      attempt.verified += event.exact + event.rounding + event.wrong;
      const place = { attempt: event.attempt, at: signal.at, step: event.step, batch: event.batch };
      return rules.flatMap((rule) =>
        judge({ rule, attempt, place }, reportValues(rule.when, event, attempt)),
      );
    }
    case 'gap': {
      if (event.kind !== 'batch') return [];
      const attempt = attemptOf(state, signal.attempt)!;
      attempt.seen += event.rows;
      const place = { attempt: signal.attempt, at: signal.at, step: event.step, batch: null };
      const covering = rules.filter(({ when }) => when.verification === 'coverage');
      return covering.flatMap((rule) => judge({ rule, attempt, place }, { coverage: coverageOf(attempt) }));
    }
    default:
      return [];
  }
}

/** Undefined for one that is older than those remembered. */
function attemptOf(state: RuleMemory, number: number): AttemptMemory | undefined {
  const known = Object.keys(state.attempts)
    .map(Number)
    .sort((a, b) => a - b);
  const found = state.attempts[number];
  if (found !== undefined) return found;
  if (known.length >= ATTEMPTS_KEPT) {
    if (number < known[0]!) return undefined;
    delete state.attempts[known[0]!];
  }
  const made: AttemptMemory = { rules: {}, batch: null, seen: 0, verified: 0 };
  state.attempts[number] = made;
  return made;
}

function metricValues(
  { metric = [] }: RuleCondition,
  values: Readonly<Record<string, MetricValue>>,
): Record<string, MetricValue> {
  return Object.fromEntries(
    metric.flatMap((name) => (Object.hasOwn(values, name) ? [[name, values[name]!]] : [])),
  );
}

type Verification = Extract<ControllerEvent, { type: 'verification' }>;

/** What the condition looks at, of one report. Of findings: the codes that are met, else none; of the signal: why it is wrong. */
function reportValues(
  { verification, errors }: RuleCondition,
  event: Verification,
  attempt: AttemptMemory,
): Record<string, MetricValue | string> {
  if (errors?.includes(WRONG_SIGNAL)) return { signal: wrongBecause(event).join(', ') };
  if (errors !== undefined) {
    const found = event.errors.filter((code) => errors.some((wanted) => wanted === 'any' || wanted === code));
    return { finding: found.join(', ') };
  }
  const share = (rows: number) => (event.rows === 0 ? 0 : rows / event.rows);
  switch (verification) {
    case 'wrongRows':
      return { wrongRows: event.wrong };
    case 'wrongShare':
      return { wrongShare: share(event.wrong) };
    case 'roundingShare':
      return { roundingShare: share(event.rounding) };
    case 'unverifiableShare':
      return { unverifiableShare: share(event.unverifiable) };
    case 'coverage':
      return { coverage: coverageOf(attempt) };
    default:
      return {};
  }
}

function coverageOf({ seen, verified }: AttemptMemory): number {
  return seen === 0 ? 1 : verified / seen;
}

interface Place {
  attempt: number;
  at: number;
  step: number;
  batch: number | null;
}

function judge(
  { rule, attempt, place }: { rule: ResolvedRule; attempt: AttemptMemory; place: Place },
  values: Record<string, MetricValue | string>,
): Firing[] {
  if (place.step <= rule.after && rule.after > 0) return [];
  for (const [name, value] of Object.entries(values)) {
    const subjects = attempt.rules[keyOf(rule.name)];
    if (subjects === null) return [];
    const known = subjects ?? {};
    attempt.rules[keyOf(rule.name)] = known;
    const subject: Subject = known[keyOf(name)] ?? { streak: 0, last: [] };
    known[keyOf(name)] = subject;
    const shown = { name, step: place.step, value, batch: place.batch };
    if (!holds(rule.when, subject, shown)) {
      subject.streak = 0;
      subject.last = [];
      continue;
    }
    subject.streak += 1;
    subject.last = [...subject.last, shown].slice(-VALUES_KEPT);
    if (subject.streak < rule.for) continue;
    attempt.rules[keyOf(rule.name)] = null;
    return [firingOf(rule, place, subject)];
  }
  return [];
}

/** Names come from people: one like `constructor` must not meet what every object has. */
function keyOf(name: string): string {
  return `:${name}`;
}

function firingOf(rule: ResolvedRule, place: Place, { last, best }: Subject): Firing {
  const { name, value, step, batch } = last.at(-1)!;
  const condition = conditionInWords(rule);
  const where = batch === null ? `at step ${step}` : `at step ${step}, batch ${batch}`;
  const reason = `rule ${rule.name}: ${name} was ${inFigures(value)} ${where} (${condition})`;
  const values = best === undefined ? last : [best, ...last].slice(-VALUES_KEPT);
  return { rule: rule.name, do: rule.do, ...place, reason, evidence: { condition, values } };
}

/** Six figures are enough to read; the value itself is in the evidence. */
function inFigures(value: number | string): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(6))) : value;
}
