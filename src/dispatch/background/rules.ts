import type { RuleEvent, StreamEntry } from '../../core/events.ts';
import { parseEntryId } from '../../core/ids.ts';
import { isFinal } from '../../core/states.ts';
import { type EarlyMemory, emptyEarlyMemory, judgeLook, takeValues } from '../../plan/early-stopping.ts';
import {
  emptyRuleMemory,
  evaluateRules,
  type Firing,
  type RuleMemory,
  type Signal,
  type StopWish,
} from '../../plan/evaluate-rules.ts';
import type { ResolvedRule } from '../../schemas/rules.ts';
import type { EarlyStopping } from '../../schemas/sweep.ts';
import type { SignalPage } from '../../store/rules/contract.ts';
import type { StorePart } from '../../store/store.ts';
import type { Log } from '../log.ts';

/*
 * Rules follow the recorded stream, not the live one: any dispatcher may move those of any experiment on, at any time,
 * also after its end (reports may lag), and comes to the same as another would. What was found is recorded in the step
 * that moves them on, so that a dispatcher that dies in between has found nothing yet.
 */

/** Experiments taken in one round. */
const TAKEN_AT_ONCE = 32;
/** Entries of a stream looked at in one step: the server holds them for a moment, with the bytes of batch parts. */
const ENTRIES_AT_ONCE = 128;
/** Experiments worked on at the same time. */
const WORKED_ON = 8;
/** Sweeps whose early stopping is remembered; it never changes. */
const SWEEPS_KNOWN = 1_000;
/** Experiments of which it is remembered that nothing is to be looked at; that never changes either. */
const RULELESS_KNOWN = 10_000;

/** What rules need. */
export interface RulesDeps {
  store: StorePart<
    | 'rules.takeSignals'
    | 'rules.readSignals'
    | 'rules.dropSignals'
    | 'rules.advance'
    | 'sweeps.recordAverage'
    | 'sweeps.get'
  >;
  log: Log;
  /** For which nobody else works on an experiment that was taken; afterwards it may be done twice, to no effect. */
  leaseMs: number;
  /** True: leave the rest to another. */
  stopped?: () => boolean;
}

/** What the rules of an experiment remember, and what its early stopping does. */
interface Memory {
  rules: RuleMemory;
  early: EarlyMemory;
}

/**
 * Moves the rules of every experiment on of which something was recorded. What fails for one is logged and stops no
 * other; it is tried again when its lease has run out.
 */
export function createRulesRound({
  store,
  log,
  leaseMs,
  stopped = () => false,
}: RulesDeps): () => Promise<void> {
  const earlyStoppingOf = rememberEarlyStopping(store);
  const ruleless = new Set<string>();

  async function advance(id: string, now: number): Promise<void> {
    if (ruleless.has(id)) return await store.rules.dropSignals(id);
    for (let more = true; more && !stopped(); ) {
      const page = await store.rules.readSignals(id, ENTRIES_AT_ONCE);
      const rules = rulesOf(page);
      const early = await earlyStoppingOf(page);
      if (rules.length === 0 && early === null) {
        if (ruleless.size >= RULELESS_KNOWN) ruleless.clear();
        ruleless.add(id);
        return await store.rules.dropSignals(id);
      }
      const found = await look(store, page, { rules, early, now });
      const done = await store.rules.advance({
        ...found,
        experiment: id,
        cursor: page.cursor,
        last: page.last,
      });
      if (done.outcome !== 'ok') return;
      for (const rule of done.recorded) log.info({ experiment: id, rule }, 'a rule fired');
      if (done.stopped) log.info({ experiment: id, reason: found.stop?.reason }, 'an experiment is stopped');
      more = page.more;
    }
  }

  return async () => {
    for (let full = true; full && !stopped(); ) {
      const { now, ids } = await store.rules.takeSignals(TAKEN_AT_ONCE, leaseMs);
      full = ids.length === TAKEN_AT_ONCE;
      const next = ids.values();
      const work = async () => {
        for (const id of next) {
          if (stopped()) return;
          await advance(id, now).catch((error: Error) => {
            log.warn(
              { err: error, experiment: id },
              'the rules of an experiment do not advance; they are tried again',
            );
          });
        }
      };
      await Promise.all(Array.from({ length: WORKED_ON }, work));
    }
  };
}

/** What comes of a page: what the rules remember behind it, what fired, and whether the experiment is to be stopped. */
async function look(
  store: StorePart<'sweeps.recordAverage'>,
  page: SignalPage,
  { rules, early, now }: { rules: readonly ResolvedRule[]; early: EarlyStopping | null; now: number },
) {
  const memory = (page.memory ?? { rules: emptyRuleMemory(), early: emptyEarlyMemory() }) as Memory;
  const signals = page.entries.map(toSignal);
  const outcome = evaluateRules(rules, { memory: memory.rules, signals, now });
  const stopping =
    early === null
      ? undefined
      : await lookEarly(store, { page, settings: early }, { memory: memory.early, signals });
  const fired = [...outcome.fired, ...(stopping?.fired ?? [])].map(toEvent);
  const stop: StopWish | null = outcome.stop ?? stopping?.fired[0] ?? null;
  const after: Memory = { rules: outcome.memory, early: stopping?.memory ?? memory.early };
  return { memory: after, due: stop === null ? outcome.due : null, fired, stop };
}

/** Compares a child with the others of its sweep at every look that became due. */
async function lookEarly(
  store: StorePart<'sweeps.recordAverage'>,
  { page: { sweep, sweepIndex, state }, settings }: { page: SignalPage; settings: EarlyStopping },
  { memory, signals }: { memory: EarlyMemory; signals: readonly Signal[] },
): Promise<{ memory: EarlyMemory; fired: Firing[] }> {
  const values = signals.flatMap(({ event, at, attempt }) =>
    event.type === 'metrics' && Object.hasOwn(event.values, settings.metric)
      ? [{ step: event.step, value: event.values[settings.metric], at, attempt }]
      : [],
  );
  const taken = takeValues(settings, memory, values);
  for (const one of taken.looks) {
    const place = { sweep: sweep ?? '', index: sweepIndex ?? 0, step: one.step };
    const others = await store.sweeps.recordAverage({ ...place, average: one.average });
    // One that has ended counts for the others, and there is nothing of it to stop.
    const firing = state === null || isFinal(state) ? undefined : judgeLook(settings, one, others);
    if (firing !== undefined) return { memory: taken.memory, fired: [firing] };
  }
  return { memory: taken.memory, fired: [] };
}

/** Asks for the early stopping of a sweep once: it never changes. */
function rememberEarlyStopping(store: StorePart<'sweeps.get'>) {
  const sweeps = new Map<string, EarlyStopping | null>();
  return async ({ sweep }: SignalPage): Promise<EarlyStopping | null> => {
    if (sweep === null) return null;
    const known = sweeps.get(sweep);
    if (known !== undefined) return known;
    const found = (await store.sweeps.get(sweep))?.earlyStopping ?? null;
    if (sweeps.size >= SWEEPS_KNOWN) sweeps.clear();
    sweeps.set(sweep, found);
    return found;
  };
}

function rulesOf({ resolved }: SignalPage): readonly ResolvedRule[] {
  return (resolved as { rules?: ResolvedRule[] } | null)?.rules ?? [];
}

function toSignal({ id, at, event }: StreamEntry): Signal {
  return { attempt: parseEntryId(id)?.attempt ?? 0, at, event };
}

function toEvent(firing: Firing): RuleEvent {
  return { type: 'rule', ...firing };
}
