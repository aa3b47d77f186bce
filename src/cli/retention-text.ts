import { inert } from 'command-kit/inert';
import { table } from 'command-kit/table';
import type { RetentionPreview } from 'echelon-client/calls';
import { sizeInWords } from './size.ts';

const DATA = {
  batches: 'bytes of batches',
  streams: 'events, logs, metrics, reports',
  records: 'records',
} as const;

/** What retention would delete of a project now. */
export function retentionText(preview: RetentionPreview, width: number | undefined): string {
  const lines = [retentionTable(preview, width), eventLogsLine(preview)];
  if (preview.retained > 0)
    lines.push(`${preview.retained} batches are retained because a rule fired for them.`);
  return lines.join('\n');
}

/** The event logs on clusters have no known size. */
function eventLogsLine({ eventLogs: { days, experiments, complete } }: RetentionPreview): string {
  if (days === null) return 'Clusters retain event logs forever.';
  const count = `${experiments}${complete ? '' : ' or more'}`;
  return `Clusters retain event logs for ${days} d; those of ${count} experiments expire.`;
}

/** One line per kind of data that retention deletes. */
export function retentionTable({ stages }: Pick<RetentionPreview, 'stages'>, width?: number): string {
  return table(
    ['DATA', 'RETAINED FOR', 'EXPERIMENTS', 'BYTES', 'FIRST TO EXPIRE'],
    stages.map(({ stage, days, experiments, bytes, complete, first }) => [
      DATA[stage],
      days === null ? 'ever' : `${days} d`,
      experiments,
      `${complete ? '' : 'over '}${sizeInWords(bytes)}`,
      inert(first.slice(0, 2).join(' ')),
    ]),
    width,
  );
}
