import { randomUUID } from 'node:crypto';
import type {
  Command,
  CommandKind,
  CommandProblem,
  CommandState,
  PreflightFinding,
} from '../../schemas/clusters.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { unlessChanged } from '../redis/revisions.ts';

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

/** Lifetime of an ended command. */
const LIFETIME_SECONDS = 7 * 24 * 3600;

/** The shown fields of a command. */
const FIELDS = ['cluster', 'kind', 'state', 'problems', 'createdAt', 'endedAt', 'findings'] as const;

/** Commands: one at a time for each cluster, in the order of their creation. */
export function createCommands(context: StoreContext) {
  const { redis, keys, run } = context;
  return {
    /** Its id; for a second removal of a cluster, the id of the open removal. */
    async create(command: {
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
    }): Promise<string> {
      const { id, cluster, kind, request, secret, project = '', ifRevision = '' } = command;
      const args = [id, cluster, kind, JSON.stringify(request), secret ?? '', project, ifRevision];
      return (await unlessChanged(run('create-command', args))) as string;
    },

    get: (id: string) => readCommand(context, id),

    /** The project of a preflight; undefined if the command belongs to no project or does not exist. */
    async project(id: string): Promise<string | undefined> {
      return (await guarded(redis.hget(keys.command(id), 'project'))) ?? undefined;
    },

    /** Open commands, oldest first. */
    open: () => readOpen(context),

    /** `busy`: another dispatcher has it, or an earlier command of the cluster is open. `over`: final, or unknown. */
    claim: (input: { id: string; dispatcher: string; leaseMs: number }) => claim(context, input),

    /** False if the lease is lost. `leaseMs` 0 releases it, so that another dispatcher can take it at once. */
    async renew({ id, token }: CommandLease, leaseMs: number): Promise<boolean> {
      return (await run('renew-command', [id, token, leaseMs])) === 1;
    },

    /** Adds a line to its report; false if the lease is lost. */
    async report({ id, token }: CommandLease, line: string): Promise<boolean> {
      return (await run('report-command', [id, token, line])) === 1;
    },

    /** Ends it, once; false if the lease is lost. */
    async end(
      { id, token }: CommandLease,
      {
        state,
        problems,
        findings = [],
      }: {
        state: 'succeeded' | 'failed';
        problems: readonly CommandProblem[];
        findings?: readonly PreflightFinding[];
      },
    ): Promise<boolean> {
      const args = [id, token, state, JSON.stringify(problems), LIFETIME_SECONDS, JSON.stringify(findings)];
      return (await run('end-command', args)) === 1;
    },
  };
}

async function readCommand({ redis, keys }: StoreContext, id: string): Promise<Command | undefined> {
  const [fields, report] = (await runAll(
    // Named one by one, without the secret.
    redis
      .pipeline()
      .hmget(keys.command(id), ...FIELDS)
      .lrange(keys.commandReport(id), 0, -1),
  )) as [(string | null)[], string[]];
  return toCommand(id, fields, report);
}

async function readOpen({ redis, keys }: StoreContext): Promise<{ id: string; cluster: string }[]> {
  const ids = await guarded(redis.zrange(keys.openCommands, '0', '-1'));
  if (ids.length === 0) return [];
  const commands = redis.pipeline();
  for (const id of ids) commands.hget(keys.command(id), 'cluster');
  const clusters = (await runAll(commands)) as (string | null)[];
  return ids.flatMap((id, at) => {
    const cluster = clusters[at];
    return cluster ? [{ id, cluster }] : [];
  });
}

async function claim(
  { run }: StoreContext,
  { id, dispatcher, leaseMs }: { id: string; dispatcher: string; leaseMs: number },
): Promise<{ outcome: 'claimed'; claimed: ClaimedCommand } | { outcome: 'busy' | 'over' }> {
  const token = randomUUID();
  const [outcome, ...rest] = (await run('claim-command', [id, dispatcher, leaseMs, token])) as string[];
  if (outcome !== 'claimed') return { outcome: outcome as 'busy' | 'over' };
  const [cluster, kind, request, secret, tries] = rest as [string, CommandKind, string, string, string];
  const lease = { id, cluster, token };
  const claimed = { lease, kind, request: JSON.parse(request) as unknown, secret: secret || null };
  return { outcome, claimed: { ...claimed, tries: Number(tries) } };
}

function toCommand(id: string, fields: (string | null)[], report: string[]): Command | undefined {
  const [cluster, kind, state, problems, createdAt, endedAt, findings] = fields;
  if (!cluster || !state) return undefined;
  return {
    id,
    cluster,
    kind: kind as CommandKind,
    state: state as CommandState,
    report,
    problems: problems ? (JSON.parse(problems) as CommandProblem[]) : [],
    findings: findings ? (JSON.parse(findings) as PreflightFinding[]) : [],
    createdAt: Number(createdAt),
    endedAt: endedAt ? Number(endedAt) : null,
  };
}
