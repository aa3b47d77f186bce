import type { RuleEvent, StreamEntry } from '../../core/events.ts';
import type { State } from '../../core/states.ts';
import type { StoreContext } from '../context.ts';
import { withPatch } from '../experiments/documents.ts';
import { toMetricNumbers, toStoredEntries, toStreamEntry } from '../metrics/metric-entries.ts';
import { guarded } from '../redis/errors.ts';

/** The next events for rules, and the state of the rules. */
export interface SignalPage {
  experiment: string;
  /** The position in the stream up to which they have read; '' at its start. `advance` needs it. */
  cursor: string;
  /** Their memory (JSON); null at the start. */
  memory: unknown;
  /** The resolved spec; null if the experiment was deleted. */
  resolved: unknown;
  sweep: string | null;
  sweepIndex: number | null;
  state: State | null;
  /** Id of the last entry that was read. */
  last: string;
  /** Further entries exist. */
  more: boolean;
  /** Metrics, batches, checkpoints, gaps and reports up to there. */
  entries: StreamEntry[];
}

/** The progress of rules, and their results. */
export interface RulesAdvance {
  experiment: string;
  /** As it was read. */
  cursor: string;
  last: string;
  memory: unknown;
  /** Time of the next evaluation (ms since 1970) even without new events; null: none. */
  due: number | null;
  fired: readonly RuleEvent[];
  stop: { rule: string; reason: string } | null;
}

/*
 * Invariant: the rules of an experiment read each entry of its stream once, in order; a rule is recorded once in an
 * attempt, in the step that advances the rules.
 */

type SignalTexts = [string, string, string, string, string, State | '', string, string, string, string];

/*
 * {root}:signals           sorted set: experiments with new events for their rules, by the time they may be taken
 * {root}:signals:waits     sorted set: experiments that wait for a checkpoint, by the end of the wait
 * {root}:x:<id>:rules      hash: cursor, memory (JSON), `fired:<rule>:<attempt>` → when
 * {root}:x:<id>:kept       set: `<attempt>:<batch>` that retention does not delete
 * {root}:sweep:<id>:average:<step>   hash: running average by child
 */

/** The rules of experiments: their position in the stream, and their results. */
export function createRules(context: StoreContext) {
  const { redis, keys, run } = context;
  return {
    /**
     * Leases up to `limit` experiments with new events for their rules, until `leaseMs` or until their rules have advanced.
     * `now` is the server's time.
     */
    async takeSignals(limit: number, leaseMs: number): Promise<{ now: number; ids: string[] }> {
      const [now, ids] = (await run('take-signals', [limit, leaseMs])) as [string, string[]];
      return { now: Number(now), ids };
    },

    /** The next events for the rules of an experiment, from at most `limit` entries of its stream. */
    async readSignals(id: string, limit: number): Promise<SignalPage> {
      return toSignals(id, (await run.bytes('read-signals', [id, limit])) as unknown[]);
    },

    /** Number of experiments with new events that their rules have not read yet. */
    backlog: () => guarded(redis.zcard(`${keys.root}:signals`)),

    /** Removes an experiment without rules from the list until its next event. */
    async dropSignals(id: string): Promise<void> {
      await guarded(redis.zrem(`${keys.root}:signals`, id));
    },

    /**
     * Advances the rules: records fired rules, retains their batches, and stops the experiment if a rule asks for it and the
     * experiment has not ended. `moved`: another process has advanced them, and nothing was changed.
     */
    async advance(
      advance: RulesAdvance,
    ): Promise<{ outcome: 'ok'; recorded: string[]; stopped: boolean } | { outcome: 'moved' | 'gone' }> {
      const { memory, due, fired, stop } = advance;
      const table = {
        ...advance,
        memory: JSON.stringify(memory),
        due: due === null ? undefined : Math.ceil(due),
        stop: stop ?? undefined,
        fired: fired.map((event) => ({
          rule: event.rule,
          attempt: String(event.attempt),
          event: JSON.stringify(event),
          kept: event.batch === null ? undefined : `${event.attempt}:${event.batch}`,
        })),
      };
      const [outcome, stopped, ...recorded] = (await run('advance-rules', [JSON.stringify(table)])) as [
        'ok' | 'moved' | 'gone',
        string,
        ...string[],
      ];
      return outcome === 'ok' ? { outcome, stopped: stopped === '1', recorded } : { outcome };
    },

    /** Batches that rules retain, as `<attempt>:<batch>`. */
    keptBatches: (id: string) => guarded(redis.smembers(`${keys.experiment(id)}:kept`)),
  };
}

function toSignals(experiment: string, page: unknown[]): SignalPage {
  const [rows, numbers] = page.slice(10) as [Buffer[][], Buffer[]];
  const texts = page.slice(0, 10).map(String) as string[];
  const [cursor, memory, resolved, sweep, index, state, last, more, shared, patch] = texts as SignalTexts;
  const names = toMetricNumbers(numbers);
  return {
    experiment,
    cursor,
    last,
    more: more === '1',
    memory: readJson(memory),
    resolved: patch === '' ? readJson(resolved) : withPatch(shared, patch).resolved,
    sweep: sweep || null,
    sweepIndex: index === '' ? null : Number(index),
    state: state || null,
    entries: toStoredEntries(rows).map((entry) => toStreamEntry(entry, names)),
  };
}

function readJson(text: string): unknown {
  return text === '' ? null : JSON.parse(text);
}
