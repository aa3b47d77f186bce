import { inert } from 'command-kit/inert';
import { table } from 'command-kit/table';
import type { RetentionPreview } from 'echelon-client/calls';
import { group } from '../group.ts';
import { row } from '../row.ts';
import { sizeInWords } from '../size.ts';

const DATA = {
  batches: 'bytes of batches',
  streams: 'events, logs, metrics, reports',
  records: 'records',
} as const;

const retention = row({
  name: 'retention',
  description: 'Show what retention would delete of a project now. Nothing is deleted.',
  arguments: [['[project]', 'name of the project', 'default']],
  examples: ['echelon retention vision'],
  verb: 'get',
  path: '/v1/projects/{name}/retention/preview',
  print(preview, { width }) {
    const lines = [retentionTable(preview, width), eventLogsLine(preview)];
    if (preview.retained > 0)
      lines.push(`${preview.retained} batches are retained because a rule fired for them.`);
    return lines.join('\n');
  },
});

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

const show = row({
  name: 'show',
  description: "Show the store's time and the clock of Redis.",
  examples: ['echelon clock show'],
  verb: 'get',
  path: '/v1/clock',
  print({ time, redisTime, leapt }, _given, output) {
    output.line(`The store's time is ${time}; the clock of Redis says ${redisTime}.`);
    if (!leapt) return;
    const remedy = 'Set that clock right; if it is right now, run `echelon clock confirm`.';
    output.remark(`The clock of Redis has leapt, so retention deletes nothing. ${remedy}`);
  },
});

const confirm = row({
  name: 'confirm',
  description: 'Confirm that the clock of Redis is right after a leap. Retention then deletes by it.',
  examples: ['echelon clock confirm'],
  verb: 'post',
  path: '/v1/clock/confirm',
  print: ({ time }) => `The store's time is ${time}, as Redis says.`,
});

const description =
  "Compare the store's time with the clock of Redis, and confirm that clock after a leap. Without a command, compare.";

/** What retention deletes, and the clock that it deletes by: `echelon retention` and `clock`. */
export const commands = { retention, clock: group({ name: 'clock', description }, [show, confirm]) };
