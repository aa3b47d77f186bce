import type { Connection } from './calls.ts';

/** Stands on stderr before what a driver of the engine `command` says of the source of its metrics. */
const MARK = 'echelon: metrics.';

/** What the source of an experiment's metrics has matched, in a sentence of its log; undefined if the log does not say. */
export async function metricsFinding(
  { get }: Pick<Connection, 'get'>,
  id: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  // Lines that mark gaps are among the last ones too.
  const query = { tail: 5, source: 'stderr', contains: MARK } as const;
  const { lines } = await get('/v1/experiments/{id}/logs', { path: { id }, query, signal });
  return lines.findLast(({ source }) => source === 'stderr')?.text.replace(/^echelon: /, '');
}
