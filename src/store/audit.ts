import type { AuditEntry } from '../schemas/audit.ts';
import type { AccessStore, AuditInput } from './access-store.ts';
import type { StoreContext } from './context.ts';
import { guarded } from './redis-errors.ts';
import type { ScriptArgument } from './scripts.ts';

/** Entries of the audit log at most: some 40 MB. Whole nodes of the stream go, so there may be a few more. */
export const AUDIT_ENTRIES = 100_000;
/** How long entries are kept. */
export const AUDIT_DAYS = 365;

/** The audit log: one stream, to which is only ever added. */
export function createAudit({ redis, keys, run }: StoreContext): Pick<AccessStore, 'audit' | 'auditLog'> {
  return {
    async audit(entry) {
      await run('audit', auditArguments(entry));
    },

    async auditLog(limit, before) {
      if (limit <= 0) return [];
      const from = before === undefined ? '+' : `(${before}`;
      const found = await guarded(redis.xrevrange(`${keys.root}:audit`, from, '-', 'COUNT', limit));
      return found.map(([id, fields]): AuditEntry => {
        const entry = JSON.parse(fields[1] ?? '{}') as AuditInput;
        return { ...entry, id, at: Number(id.split('-', 1)[0]) };
      });
    },
  };
}

/** An entry as the steps that write one take it; without one, nothing is written. */
export function auditArguments(entry: AuditInput | undefined): ScriptArgument[] {
  return [entry ? JSON.stringify(entry) : '', AUDIT_ENTRIES, AUDIT_DAYS * 24 * 3600 * 1000];
}
