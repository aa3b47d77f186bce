import { Command } from 'commander';
import type { RetentionPreview } from '../../schemas/retention.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { inert, json, type Output, table } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean };

const WHAT = {
  batches: 'bytes of batches',
  streams: 'events, logs, metrics, reports',
  records: 'records',
} as const;

/** `echelon retention`: what would be deleted, before it is. */
export function retentionCommand(output: Output): Command {
  const preview = withConnection(new Command('preview'))
    .description('show what retention would delete of a project now; nothing is deleted by it')
    .argument('[project]', 'name of the project', 'default')
    .option('--json', 'print JSON, for scripts')
    .addHelpText('after', '\nExample:\n  echelon retention preview vision')
    .action(async (project: string, options: Options) => {
      const client = await clientFor(options);
      const path = `/v1/projects/${encodeURIComponent(project)}/retention/preview`;
      const answer = await client.get<RetentionPreview>(path);
      if (options.json) return output.line(json(answer));
      output.line(retentionTable(answer));
      output.line(eventLogsLine(answer));
      if (answer.retained > 0)
        output.line(`${answer.retained} batches are not deleted because a rule retains them.`);
    });
  return new Command('retention')
    .description('what is kept for how long; alone, what would be deleted now')
    .addHelpText('after', '\nExample:\n  echelon retention preview vision')
    .addCommand(preview, { isDefault: true });
}

/** What clusters keep, which has no size here. */
function eventLogsLine({ eventLogs: { days, experiments, complete } }: RetentionPreview): string {
  if (days === null) return 'Clusters keep event logs for ever.';
  const forgotten = `${experiments}${complete ? '' : ' or more'}`;
  return `Clusters keep event logs for ${days} d; those of ${forgotten} experiments go.`;
}

/** One line for each thing that retention deletes. */
export function retentionTable({ stages }: Pick<RetentionPreview, 'stages'>): string {
  return table(
    ['WHAT', 'KEPT FOR', 'EXPERIMENTS', 'BYTES', 'THE FIRST OF THEM'],
    stages.map(({ stage, days, experiments, bytes, complete, first }) => [
      WHAT[stage],
      days === null ? 'ever' : `${days} d`,
      experiments,
      `${complete ? '' : 'over '}${size(bytes)}`,
      inert(first.slice(0, 2).join(' ')),
    ]),
  );
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const power = Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${['', 'kB', 'MB', 'GB', 'TB'][power]}`;
}
