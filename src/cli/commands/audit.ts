import type { Command } from 'commander';
import type { AuditEntry } from 'echelon-client/calls';
import { wholeNumber } from 'echelon-verify/cli/arguments';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { readPages } from '../pages.ts';

interface Options extends ConnectionOptions {
  json?: boolean;
  limit: number;
  caller?: string;
  action?: string;
  target?: string;
}

/** `echelon audit`: who changed what, and which requests were refused. */
export function auditCommand(output: Output): Command {
  return apiCommand('audit')
    .description('List changes and refused requests with their callers, newest first.')
    .option('--caller <id>', 'only requests of this key or token')
    .option('--action <name>', 'only this operation, such as cancelExperiment')
    .option('--target <id>', 'only requests on this resource')
    .option('-n, --limit <count>', 'maximum number of entries', wholeNumber(1, 1_000_000), 50)
    .addHelpText('after', examples('echelon audit --action removeCluster -n 10'))
    .action(async ({ limit, caller, action, target, json: asJson, ...connection }: Options) => {
      const client = await clientFor(connection);
      const { items } = await readPages(
        (page) => client.get('/v1/audit', { query: { caller, action, target, ...page } }),
        { limit },
      );
      if (asJson) return output.line(json({ items }));
      if (items.length === 0) return output.line('No entries match.');
      output.line(auditTable(items));
    });
}

/** The name, then the id in parentheses unless the id begins with the name, as that of a plain token does. */
function callerOf(name: string | null, caller: string | null): string {
  if (caller === null || name === null) return caller ?? '-';
  return caller.startsWith(name) ? caller : `${name} (${caller})`;
}

/** One line per entry. */
export function auditTable(entries: readonly AuditEntry[]): string {
  return table(
    ['TIME', 'CALLER', 'ACTION', 'TARGET', 'OUTCOME', 'ADDRESS', 'NOTE'],
    entries.map(({ at, caller, name, action, target, outcome, status, code, address, note }) => [
      new Date(at).toISOString().replace('T', ' ').slice(0, 19),
      inert(callerOf(name, caller)),
      inert(action),
      inert(target ?? '-'),
      outcome === 'done' ? outcome : inert(`${outcome} ${code ?? status}`),
      inert(address),
      inert(note ?? ''),
    ]),
  );
}
