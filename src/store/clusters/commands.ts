import { randomUUID } from 'node:crypto';
import type {
  Command,
  CommandKind,
  CommandProblem,
  CommandState,
  PreflightFinding,
} from '../../schemas/clusters.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { unlessChanged } from '../redis/revisions.ts';
import type { CommandStore } from './command-contract.ts';

/** Lifetime of an ended command. */
const LIFETIME_SECONDS = 7 * 24 * 3600;

/** The shown fields of a command. */
const FIELDS = ['cluster', 'kind', 'state', 'problems', 'createdAt', 'endedAt', 'findings'] as const;

/** See {@link CommandStore}. */
export function createCommands({ redis, keys, run }: StoreContext): CommandStore {
  return {
    async create({ id, cluster, kind, request, secret, project = '', ifRevision = '' }) {
      const args = [id, cluster, kind, JSON.stringify(request), secret ?? '', project, ifRevision];
      return (await unlessChanged(run('create-command', args))) as string;
    },

    async get(id) {
      const [fields, report] = (await runAll(
        // Named one by one, without the secret.
        redis
          .pipeline()
          .hmget(keys.command(id), ...FIELDS)
          .lrange(keys.commandReport(id), 0, -1),
      )) as [(string | null)[], string[]];
      return toCommand(id, fields, report);
    },

    async project(id) {
      return (await guarded(redis.hget(keys.command(id), 'project'))) ?? undefined;
    },

    async open() {
      const ids = await guarded(redis.zrange(keys.openCommands, '0', '-1'));
      if (ids.length === 0) return [];
      const commands = redis.pipeline();
      for (const id of ids) commands.hget(keys.command(id), 'cluster');
      const clusters = (await runAll(commands)) as (string | null)[];
      return ids.flatMap((id, at) => {
        const cluster = clusters[at];
        return cluster ? [{ id, cluster }] : [];
      });
    },

    async claim({ id, dispatcher, leaseMs }) {
      const token = randomUUID();
      const [outcome, ...rest] = (await run('claim-command', [id, dispatcher, leaseMs, token])) as string[];
      if (outcome !== 'claimed') return { outcome: outcome as 'busy' | 'over' };
      const [cluster, kind, request, secret, tries] = rest as [string, CommandKind, string, string, string];
      const lease = { id, cluster, token };
      const claimed = { lease, kind, request: JSON.parse(request) as unknown, secret: secret || null };
      return { outcome, claimed: { ...claimed, tries: Number(tries) } };
    },

    async renew({ id, token }, leaseMs) {
      return (await run('renew-command', [id, token, leaseMs])) === 1;
    },

    async report({ id, token }, line) {
      return (await run('report-command', [id, token, line])) === 1;
    },

    async end({ id, token }, { state, problems, findings = [] }) {
      const args = [id, token, state, JSON.stringify(problems), LIFETIME_SECONDS, JSON.stringify(findings)];
      return (await run('end-command', args)) === 1;
    },
  };
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
