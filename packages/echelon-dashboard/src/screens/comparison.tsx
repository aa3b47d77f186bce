import type { Answer } from 'echelon-client/calls';
import { curvesQuery } from 'echelon-client/comparison-file';
import { comparisonCsv } from 'echelon-client/csv';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet, useResource } from '../app/resource.ts';
import { saveText } from '../app/save.ts';
import { command } from '../models/commands.ts';
import { inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { State } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { Result } from './comparison/result.tsx';

/** A comparison: whether a method is better, how sure that is, and what it is made from. */
export function Comparison({ params }: { params: Record<string, string> }) {
  const path = { id: params.id! };
  const loaded = useGet('/v1/comparisons/{id}', { path });
  useFeed(useThrottled(loaded.reload, 5000));
  const plan = loaded.data?.plan;
  const series = useResource(
    async (signal) =>
      plan &&
      api.get('/v1/sweeps/{id}/series', {
        path,
        query: curvesQuery(plan),
        signal,
      }),
    ['series', params.id, plan !== undefined, loaded.data?.look.complete],
  );
  return (
    <Await of={loaded}>
      {(comparison) => (
        <>
          <Head
            title={inert(comparison.plan.name)}
            path={[
              ['/comparisons', 'Comparisons'],
              [`/sweeps/${comparison.id}`, 'Its sweep'],
            ]}
            command={command(`comparison export ${comparison.id} comparison.html`)}
            actions={
              <button type="button" onClick={() => saveGames(comparison.id)}>
                Save the games as CSV
              </button>
            }
          >
            <State state={comparison.state} />
          </Head>
          <Result comparison={comparison} series={series.data} isLinked />
        </>
      )}
    </Await>
  );
}

async function saveGames(id: string): Promise<void> {
  const runs: Answer<'get', '/v1/comparisons/{id}/games'>['items'] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await api.get('/v1/comparisons/{id}/games', { path: { id }, query: { limit: 20, cursor } });
    runs.push(...page.items);
    cursor = page.next ?? undefined;
  }
  saveText(`${id}-games.csv`, 'text/csv', `${comparisonCsv(runs)}\n`);
}
