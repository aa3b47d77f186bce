/** A comparison as the data of one HTML file, which the command line writes and the dashboard's page shows. */
import type { Answer, Input } from './calls.ts';

type Series = NonNullable<Input<'get', '/v1/sweeps/{id}/series'>['query']>;

/** Id of the element with the data. */
export const COMPARISON_ID = 'comparison';

/** Its data. */
export interface ComparisonFile {
  comparison: Answer<'get', '/v1/comparisons/{id}'>;
  games: Answer<'get', '/v1/comparisons/{id}/games'>['items'];
  /** Curves, which are no part of the comparison. */
  series: Answer<'get', '/v1/sweeps/{id}/series'>;
}

/** The query for the curves of a comparison's methods: means over all that the methods do not set, as many as have colours. */
export function curvesQuery({
  seedField = 'training.seed',
}: Pick<ComparisonFile['comparison']['plan'], 'seedField'>): NonNullable<Series> {
  const seed = seedField.startsWith('/') ? seedField : `/${seedField.replaceAll('.', '/')}`;
  return { metric: 'val/success_rate', over: ['/name', seed], limit: 5 };
}
