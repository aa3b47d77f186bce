import type { Answer, Connection, Input } from './calls.ts';

type Query = Omit<NonNullable<Input<'get', '/v1/experiments/{id}/logs/count'>['query']>, 'after'>;

/** The number of lines of an experiment's log that match, in as many requests as the log needs; yields the sum so far. */
export async function* countLogLines(
  { get }: Pick<Connection, 'get'>,
  id: string,
  { signal, ...filter }: Query & { signal?: AbortSignal },
): AsyncGenerator<{ matching: number; more: boolean }, void, undefined> {
  let page: Answer<'get', '/v1/experiments/{id}/logs/count'> = { matching: 0, after: null, more: true };
  for (let matching = 0; page.more; ) {
    const query = { ...filter, after: page.after ?? undefined };
    page = await get('/v1/experiments/{id}/logs/count', { path: { id }, query, signal });
    matching += page.matching;
    yield { matching, more: page.more };
  }
}
