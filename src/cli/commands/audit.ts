import { Command } from 'commander';
import type { AuditEntry, AuditPage } from '../../schemas/audit.ts';
import { wholeNumber } from '../arguments.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { inert, json, type Output, table } from '../output.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  limit: number;
  caller?: string;
  action?: string;
  target?: string;
}

/** Entries of one answer of the API at most. */
const PAGE = 200;

/** `echelon audit`: who changed what, and who was refused. */
export function auditCommand(output: Output): Command {
  return withConnection(new Command('audit'))
    .description('show who changed what, and who was refused; the newest first')
    .option('--caller <id>', 'only what this key or token did')
    .option('--action <name>', 'only this operation, e.g. cancelExperiment')
    .option('--target <id>', 'only what was done to this')
    .option('-n, --limit <count>', 'at most so many', wholeNumber(1, 1_000_000), 50)
    .option('--json', 'print JSON, for scripts')
    .addHelpText('after', '\nExample:\n  echelon audit --action removeCluster -n 10')
    .action(async (options: Options) => {
      const items = await entriesOf(options);
      if (options.json) return output.line(json({ items }));
      if (items.length === 0) return output.line('Nothing of that is in the log.');
      output.line(auditTable(items));
    });
}

async function entriesOf({ limit, caller, action, target, ...connection }: Options): Promise<AuditEntry[]> {
  const client = await clientFor(connection);
  const items: AuditEntry[] = [];
  let cursor: string | undefined;
  do {
    const page: AuditPage = await client.get<AuditPage>('/v1/audit', {
      ...{ caller, action, target, cursor },
      limit: Math.min(PAGE, limit - items.length),
    });
    items.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && items.length < limit);
  return items;
}

/** The name, with the id behind it where that says more: a plain token's name is the start of its id. */
function whoDid(name: string | null, caller: string | null): string {
  if (caller === null || name === null) return caller ?? '-';
  return caller.startsWith(name) ? caller : `${name} (${caller})`;
}

/** One line for each entry. */
export function auditTable(entries: readonly AuditEntry[]): string {
  return table(
    ['TIME', 'WHO', 'WHAT', 'TARGET', 'OUTCOME', 'FROM', 'NOTE'],
    entries.map(({ at, caller, name, action, target, outcome, status, code, address, note }) => [
      new Date(at).toISOString().replace('T', ' ').slice(0, 19),
      inert(whoDid(name, caller)),
      inert(action),
      inert(target ?? '-'),
      outcome === 'done' ? outcome : inert(`${outcome} ${code ?? status}`),
      inert(address),
      inert(note ?? ''),
    ]),
  );
}
