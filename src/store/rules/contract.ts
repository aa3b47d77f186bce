import type { RuleEvent, StreamEntry } from '../../core/events.ts';
import type { State } from '../../core/states.ts';

/** What rules look at next, and where they stand. */
export interface SignalPage {
  experiment: string;
  /** Place in the stream up to which they have looked; '' at its start. Handed back to move on from. */
  cursor: string;
  /** What they remember (JSON); null at the start. */
  memory: unknown;
  /** The resolved spec; null where the experiment is gone. */
  resolved: unknown;
  sweep: string | null;
  sweepIndex: number | null;
  state: State | null;
  /** Place of the last entry that was looked at. */
  last: string;
  /** Entries lie behind it. */
  more: boolean;
  /** Metrics, batches, checkpoints, gaps and reports up to there. */
  entries: StreamEntry[];
}

/** How far rules have come, and what came of it. */
export interface RulesAdvance {
  experiment: string;
  /** As it was read. */
  cursor: string;
  last: string;
  memory: unknown;
  /** When to look again by the clock (ms since 1970), whether or not anything was recorded. */
  due: number | null;
  fired: readonly RuleEvent[];
  stop: { rule: string; reason: string } | null;
}

/*
 * What always holds: the rules of an experiment look at each entry of its stream once, in its order; a rule is recorded
 * once in an attempt, in the step that moves the rules on.
 */

/** The rules of experiments: where they stand in the stream, and what they have found. */
export interface RulesStore {
  /**
   * Takes up to `limit` experiments of which something was recorded that rules may look at; they come back after
   * `leaseMs` unless their rules were moved on. `now` is the server's time.
   */
  takeSignals(limit: number, leaseMs: number): Promise<{ now: number; ids: string[] }>;
  /** What the rules of an experiment look at next; at most `limit` entries of its stream. */
  readSignals(id: string, limit: number): Promise<SignalPage>;
  /** Experiments of which something was recorded that their rules, if they have any, have not looked at yet. */
  backlog(): Promise<number>;
  /** Nothing of this experiment is to be looked at until something more is recorded: it has no rules. */
  dropSignals(id: string): Promise<void>;
  /**
   * Moves the rules on; records what fired, keeps the batches that it is about, and stops the experiment where that is
   * asked for and it has not ended. `moved`: another has done it, and nothing was changed.
   */
  advance(
    advance: RulesAdvance,
  ): Promise<{ outcome: 'ok'; recorded: string[]; stopped: boolean } | { outcome: 'moved' | 'gone' }>;
  /** Batches that are kept whatever retention says, as `<attempt>:<batch>`. */
  keptBatches(id: string): Promise<string[]>;
}
