import type { RuleEvent, StreamEntry } from '../../core/events.ts';
import type { State } from '../../core/states.ts';

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

/** The rules of experiments: their position in the stream, and their results. */
export interface RulesStore {
  /**
   * Leases up to `limit` experiments with new events for their rules, until `leaseMs` or until their rules have advanced.
   * `now` is the server's time.
   */
  takeSignals(limit: number, leaseMs: number): Promise<{ now: number; ids: string[] }>;
  /** The next events for the rules of an experiment, from at most `limit` entries of its stream. */
  readSignals(id: string, limit: number): Promise<SignalPage>;
  /** Number of experiments with new events that their rules have not read yet. */
  backlog(): Promise<number>;
  /** Removes an experiment without rules from the list until its next event. */
  dropSignals(id: string): Promise<void>;
  /**
   * Advances the rules: records fired rules, retains their batches, and stops the experiment if a rule asks for it and the
   * experiment has not ended. `moved`: another process has advanced them, and nothing was changed.
   */
  advance(
    advance: RulesAdvance,
  ): Promise<{ outcome: 'ok'; recorded: string[]; stopped: boolean } | { outcome: 'moved' | 'gone' }>;
  /** Batches that rules retain, as `<attempt>:<batch>`. */
  keptBatches(id: string): Promise<string[]>;
}
