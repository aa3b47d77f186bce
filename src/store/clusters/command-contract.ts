import type { Command, CommandKind, CommandProblem, PreflightFinding } from '../../schemas/clusters.ts';

/** The input of a new command. */
export interface CommandInput {
  id: string;
  cluster: string;
  kind: CommandKind;
  /** Stored with the record, and given to the dispatcher that executes the command. */
  request: unknown;
  /** Given to the dispatcher that executes the command, deleted at its end, and never shown. */
  secret: string | null;
  /** The project that it belongs to, if any. */
  project?: string;
  /** The revision that its cluster must have; otherwise `precondition-failed` is thrown and nothing is recorded. */
  ifRevision?: number;
}

/** The right to execute a command. */
export interface CommandLease {
  id: string;
  cluster: string;
  token: string;
}

/** A claimed command. `tries` counts the claims, this one included. */
export interface ClaimedCommand {
  lease: CommandLease;
  kind: CommandKind;
  request: unknown;
  secret: string | null;
  tries: number;
}

/** Commands: one at a time for each cluster, in the order of their creation. */
export interface CommandStore {
  /** Its id; for a second removal of a cluster, the id of the open removal. */
  create(input: CommandInput): Promise<string>;
  get(id: string): Promise<Command | undefined>;
  /** The project of a preflight; undefined if the command belongs to no project or does not exist. */
  project(id: string): Promise<string | undefined>;
  /** Open commands, oldest first. */
  open(): Promise<{ id: string; cluster: string }[]>;
  /** `busy`: another dispatcher has it, or an earlier command of the cluster is open. `over`: final, or unknown. */
  claim(input: {
    id: string;
    dispatcher: string;
    leaseMs: number;
  }): Promise<{ outcome: 'claimed'; claimed: ClaimedCommand } | { outcome: 'busy' | 'over' }>;
  /** False if the lease is lost. `leaseMs` 0 releases it, so that another dispatcher can take it at once. */
  renew(lease: CommandLease, leaseMs: number): Promise<boolean>;
  /** Adds a line to its report; false if the lease is lost. */
  report(lease: CommandLease, line: string): Promise<boolean>;
  /** Ends it, once; false if the lease is lost. */
  end(
    lease: CommandLease,
    end: {
      state: 'succeeded' | 'failed';
      problems: readonly CommandProblem[];
      findings?: readonly PreflightFinding[];
    },
  ): Promise<boolean>;
}
