import type { Command, CommandKind, CommandProblem, PreflightFinding } from '../../schemas/clusters.ts';

/** What a command is made from. */
export interface CommandInput {
  id: string;
  cluster: string;
  kind: CommandKind;
  /** Kept with the record, and handed to whoever carries it out. */
  request: unknown;
  /** Handed to whoever carries it out, deleted when it is over, and shown to nobody. */
  secret: string | null;
  /** Whose it is, where it is a project's thing. */
  project?: string;
  /** The revision that its cluster must have; else nothing is recorded, and `precondition-failed` thrown. */
  ifRevision?: number;
}

/** The right to carry out a command. */
export interface CommandLease {
  id: string;
  cluster: string;
  token: string;
}

/** A command in our hands. `tries` counts the claims, this one included. */
export interface ClaimedCommand {
  lease: CommandLease;
  kind: CommandKind;
  request: unknown;
  secret: string | null;
  tries: number;
}

/** Commands: one at a time for each cluster, in the order in which they came. */
export interface CommandStore {
  /** Its id; for the removal of a cluster that is to be removed already, the id of the command that does so. */
  create(input: CommandInput): Promise<string>;
  get(id: string): Promise<Command | undefined>;
  /** Of a preflight of a spec; undefined where the command belongs to no project, or there is none. */
  project(id: string): Promise<string | undefined>;
  /** Those that are not over, oldest first. */
  open(): Promise<{ id: string; cluster: string }[]>;
  /** `busy`: another dispatcher has it, or an earlier one of the cluster is not over. `over`: final, or unknown. */
  claim(input: {
    id: string;
    dispatcher: string;
    leaseMs: number;
  }): Promise<{ outcome: 'claimed'; claimed: ClaimedCommand } | { outcome: 'busy' | 'over' }>;
  /** False: another holds it, or it is over. `leaseMs` 0 lets it go: another takes it at once. */
  renew(lease: CommandLease, leaseMs: number): Promise<boolean>;
  /** Adds a line to its report; false where the lease is lost. */
  report(lease: CommandLease, line: string): Promise<boolean>;
  /** Its end, once; false where the lease is lost. */
  end(
    lease: CommandLease,
    end: {
      state: 'succeeded' | 'failed';
      problems: readonly CommandProblem[];
      findings?: readonly PreflightFinding[];
    },
  ): Promise<boolean>;
}
