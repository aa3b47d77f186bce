import type { AuditEntry, AuditPage } from '../../../schemas/audit.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { text } from '../../../schemas/optional-fields.ts';
import { AUDIT_DAYS, AUDIT_ENTRIES } from '../../../store/access/audit.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { PageQuery } from '../common.ts';

/** Entries read from the store in one call, and looked at for one answer at most. */
const CHUNK = 500;
const MAX_READ = 5000;

const Query = StrictObject({
  ...PageQuery,
  caller: text(1, 200, 'Return only entries of the key or token with this id.'),
  action: text(1, 200, 'Return only entries of this operation, e.g. cancelExperiment.'),
  target: text(1, 200, 'Return only entries about the resource with this id or name.'),
});

/** GET /v1/audit. */
export function addAuditLog(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/audit',
    operationId: 'listAudit',
    scope: 'admin',
    summary: 'List the audit log, newest first',
    description: `The last ${AUDIT_ENTRIES.toLocaleString('en')} entries of ${AUDIT_DAYS} days. A page looks at ${MAX_READ} entries at most: with a filter it may be short, and \`next\` leads on.`,
    tag: 'access',
    querystring: Query,
    answer: 'AuditPage',
    problems: ['invalid-cursor'],
    handler: async (request): Promise<AuditPage> => {
      const { cursor, limit = 50, caller, action, target } = request.query;
      const wanted = (entry: AuditEntry) =>
        (caller === undefined || entry.caller === caller) &&
        (action === undefined || entry.action === action) &&
        (target === undefined || entry.target === target);
      const scope = `audit ${JSON.stringify([caller, action, target])}`;
      let before = cursor === undefined ? undefined : cursors.open(scope, cursor);
      const items: AuditEntry[] = [];
      for (let read = 0; read < MAX_READ; read += CHUNK) {
        const page = await store.audit.page(CHUNK, before);
        for (const entry of page) {
          if (items.length === limit) return { items, next: cursors.seal(scope, before!) };
          before = entry.id;
          if (wanted(entry)) items.push(entry);
        }
        if (page.length < CHUNK) return { items, next: null };
      }
      return { items, next: cursors.seal(scope, before!) };
    },
  });
}
