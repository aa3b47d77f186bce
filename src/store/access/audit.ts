import type { AuditEntry } from '../../schemas/audit.ts';
import type { StoreContext } from '../context.ts';
import { runAll } from '../redis/errors.ts';

/** An audit entry without the fields that the store sets. */
export type AuditInput = Omit<AuditEntry, 'id' | 'at'>;

/**
 * MAX entries of the audit log (about 40 MB), and again as many of administrators. Redis deletes whole nodes of a stream,
 * so there may be a few more.
 */
export const AUDIT_ENTRIES = 100_000;
/** Lifetime of an entry. */
export const AUDIT_DAYS = 365;

/** The audit log: two append-only streams with a common order. */
export function createAudit({ redis, keys, run, limits }: StoreContext) {
  const streams = [`${keys.root}:audit`, `${keys.root}:audit:admin`];
  return {
    /**
     * Adds an entry. The oldest entries are deleted by number and age; new entries of a caller replace only that caller's.
     * Entries of administrators (`administrative`) have a stream of their own.
     */
    async record(
      entry: AuditInput,
      { administrative = false }: { administrative?: boolean } = {},
    ): Promise<void> {
      await run('audit', [
        JSON.stringify(auditLog(entry, { administrative, maxOfCaller: limits.auditOfCaller })),
      ]);
    },

    /** Entries older than `before` (an entry's id), newest first. */
    async page(limit: number, before: string | undefined): Promise<AuditEntry[]> {
      if (limit <= 0) return [];
      const from = before === undefined ? '+' : `(${before}`;
      const commands = redis.pipeline();
      for (const stream of streams) commands.xrevrange(stream, from, '-', 'COUNT', limit);
      const found = (await runAll(commands)) as [id: string, fields: string[]][][];
      return found
        .flat()
        .map(([id, fields]): AuditEntry => {
          const entry = JSON.parse(fields[1] ?? '{}') as AuditInput;
          return { ...entry, id, at: Number(id.split('-', 1)[0]) };
        })
        .sort((left, right) => right.at - left.at || seqOf(right) - seqOf(left))
        .slice(0, limit);
    },
  };
}

function seqOf({ id }: AuditEntry): number {
  return Number(id.split('-')[1]);
}

/** An entry with the bounds of the log for a script (see redis/lua/audit.lua). `maxOfCaller`: in entries. */
export function auditLog(
  entry: AuditInput,
  { maxOfCaller, administrative = false }: { maxOfCaller: number; administrative?: boolean },
) {
  const ring = administrative ? 'admin' : (entry.caller ?? 'unauthenticated');
  const retainMs = AUDIT_DAYS * 24 * 3600 * 1000;
  return { entry: JSON.stringify(entry), ring, max: AUDIT_ENTRIES, maxOfCaller, retainMs };
}
