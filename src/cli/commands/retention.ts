import type { Command } from 'commander';
import type { RetentionPreview } from 'echelon-client/calls';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { sizeInWords } from '../size.ts';

type Options = ConnectionOptions & { json?: boolean };

const DATA = {
  batches: 'bytes of batches',
  streams: 'events, logs, metrics, reports',
  records: 'records',
} as const;

/** `echelon retention [PROJECT]`: what retention would delete now. */
export function retentionCommand(output: Output): Command {
  return apiCommand('retention')
    .description('Show what retention would delete of a project now. Nothing is deleted.')
    .argument('[project]', 'name of the project', 'default')
    .addHelpText('after', examples('echelon retention vision'))
    .action(async (project: string, options: Options) => {
      const client = await clientFor(options);
      const preview = await client.get('/v1/projects/{name}/retention/preview', { path: { name: project } });
      if (options.json) return output.line(json(preview));
      output.line(retentionTable(preview));
      output.line(eventLogsLine(preview));
      if (preview.retained > 0)
        output.line(`${preview.retained} batches are retained because a rule fired for them.`);
    });
}

/** The event logs on clusters have no known size. */
function eventLogsLine({ eventLogs: { days, experiments, complete } }: RetentionPreview): string {
  if (days === null) return 'Clusters retain event logs forever.';
  const count = `${experiments}${complete ? '' : ' or more'}`;
  return `Clusters retain event logs for ${days} d; those of ${count} experiments expire.`;
}

/** One line per kind of data that retention deletes. */
export function retentionTable({ stages }: Pick<RetentionPreview, 'stages'>): string {
  return table(
    ['DATA', 'RETAINED FOR', 'EXPERIMENTS', 'BYTES', 'FIRST TO EXPIRE'],
    stages.map(({ stage, days, experiments, bytes, complete, first }) => [
      DATA[stage],
      days === null ? 'ever' : `${days} d`,
      experiments,
      `${complete ? '' : 'over '}${sizeInWords(bytes)}`,
      inert(first.slice(0, 2).join(' ')),
    ]),
  );
}
