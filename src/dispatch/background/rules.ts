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
import type { ExperimentsQueue } from '../../queue/experiments-queue.ts';
import type { ResolvedRule } from '../../schemas/rules.ts';
import type { EarlyStopping } from '../../schemas/sweep.ts';
import type { SignalPage } from '../../store/rules/rules.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';

/*
 * Rules read the recorded stream, not the live one. Any dispatcher may evaluate the rules of any experiment at any time,
 * also after its end, and gets the same result. The store records a result and the new cursor in one step, so a
 * dispatcher that dies before that step leaves no partial result.
 */

/** Experiments taken in one step. */
const TAKEN_AT_ONCE = 32;
/** Entries of a stream read in one step: they are in memory together, with the bytes of batch parts. */
const ENTRIES_AT_ONCE = 128;
/** Experiments evaluated at the same time. */
const CONCURRENCY = 8;
/** Sweeps whose early stopping is cached; it never changes. */
const SWEEPS_KNOWN = 1_000;
/** Experiments known to have neither rules nor early stopping, which never changes. */
const RULELESS_KNOWN = 10_000;

/** The recorded state of an experiment's rules and early stopping. */
interface Memory {
  rules: RuleMemory;
  early: EarlyMemory;
}

/**
 * Evaluates the rules of every experiment with new records. A failure is logged, stops no other experiment, and is
 * retried when the lease has expired.
 */
export function createRulesRound({
  store,
  queue,
  log,
  leaseMs,
  stopped = () => false,
}: {
  store: Pick<Store, 'rules' | 'sweeps'>;
  queue: Pick<ExperimentsQueue, 'remove'>;
  log: Log;
  /** How long no other dispatcher takes the same experiment. A second evaluation after that has no effect. */
  leaseMs: number;
  /** Whether this dispatcher stops: another dispatcher continues. */
  stopped?: () => boolean;
}): () => Promise<void> {
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
      const found = await evaluate(store, page, { rules, early, now });
      const done = await store.rules.advance({
        ...found,
        experiment: id,
        cursor: page.cursor,
        last: page.last,
      });
      if (done.outcome !== 'ok') return;
      for (const rule of done.recorded) log.info({ experiment: id, rule }, 'a rule fired');
      if (done.stopped) {
        log.info({ experiment: id, reason: found.stop?.reason }, 'an experiment is stopped');
        // Only a queued experiment ends at once. A job that stays is completed when its delay ends.
        if (page.state === 'queued') await queue.remove([id]);
      }
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
              'cannot evaluate the rules of an experiment; it is tried again',
            );
          });
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, work));
    }
  };
}

/** Evaluates a page: the state after it, the rules that fired, and whether the experiment must be stopped. */
async function evaluate(
  store: Pick<Store, 'rules' | 'sweeps'>,
  page: SignalPage,
  { rules, early, now }: { rules: readonly ResolvedRule[]; early: EarlyStopping | null; now: number },
) {
  const memory = (page.memory ?? { rules: emptyRuleMemory(), early: emptyEarlyMemory() }) as Memory;
  const signals = page.entries.map(toSignal);
  const outcome = evaluateRules(rules, { memory: memory.rules, signals, now });
  const stopping =
    early === null
      ? undefined
      : await evaluateEarly(store, { page, settings: early }, { memory: memory.early, signals });
  const fired = [...outcome.fired, ...(stopping?.fired ?? [])].map(toEvent);
  const stop: StopWish | null = outcome.stop ?? stopping?.fired[0] ?? null;
  const after: Memory = { rules: outcome.memory, early: stopping?.memory ?? memory.early };
  return { memory: after, due: stop === null ? outcome.due : null, fired, stop };
}

/** Compares a child with the other children of its sweep at each comparison that became due. */
async function evaluateEarly(
  store: Pick<Store, 'rules' | 'sweeps'>,
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
    // An ended child counts in the comparison, but there is nothing to stop.
    const firing = state === null || isFinal(state) ? undefined : judgeLook(settings, one, others);
    if (firing !== undefined) return { memory: taken.memory, fired: [firing] };
  }
  return { memory: taken.memory, fired: [] };
}

/** Reads the early stopping of each sweep once: it never changes. */
function rememberEarlyStopping(store: Pick<Store, 'rules' | 'sweeps'>) {
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
