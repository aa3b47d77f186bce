import type { Answer } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet } from '../app/resource.ts';
import { may } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { fieldOf } from '../models/curves.ts';
import { knownOf } from '../models/outcomes.ts';
import { intervalOn, rangeOf } from '../models/scale.ts';
import { count, figure, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Head } from '../parts/head.tsx';
import { Fact, OutcomeCounts, State, Status } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';
import { Bands } from './sweep/bands.tsx';

type Comparison = Answer<'get', '/v1/sweeps/{id}/comparison'>;
type Combination = Comparison['items'][number];
type Detail = Answer<'get', '/v1/sweeps/{id}'>;

const PAGE = 200;

/** A sweep: which setting is best, and how sure that is. */
export function Sweep({ params }: { params: Record<string, string> }) {
  const path = { id: params.id! };
  const sweep = useGet('/v1/sweeps/{id}', { path, query: { limit: PAGE } });
  const table = useGet('/v1/sweeps/{id}/comparison', { path });
  const [tick, setTick] = useState(0);
  const refresh = useThrottled(() => {
    setTick((n) => n + 1);
    sweep.reload();
    table.reload();
  }, 2000);
  useFeed(refresh);
  return (
    <Await of={sweep}>
      {(detail) => (
        <>
          <Head
            title={inert(detail.name)}
            path={[['/sweeps', 'Sweeps']]}
            command={command(`sweeps compare ${detail.id}`)}
            actions={<Actions detail={detail} onChange={refresh} />}
          >
            <State state={detail.state} />
          </Head>
          <dl class="facts">
            <Fact name="Id">
              <span class="mono">{detail.id}</span>
            </Fact>
            <Fact name="Method">{detail.method}</Fact>
            <Fact name="Children">{count(detail.count)}</Fact>
            {Object.entries(detail.counts)
              .filter(([, n]) => n > 0)
              .map(([state, n]) => (
                <Fact key={state} name={state}>
                  <a href={`/experiments?sweep=${detail.id}&state=${state}`}>{count(n)}</a>
                </Fact>
              ))}
            {detail.skipped > 0 && <Fact name="skipped">{count(detail.skipped)}</Fact>}
            {detail.stoppedEarly > 0 && <Fact name="stopped early">{count(detail.stoppedEarly)}</Fact>}
          </dl>
          <div class="stack">
            <Await of={table}>{(comparison) => <Combinations comparison={comparison} />}</Await>
            {detail.children[0] && (
              <Bands sweep={detail.id} child={detail.children[0].experiment} tick={tick} />
            )}
            <Children detail={detail} />
          </div>
        </>
      )}
    </Await>
  );
}

function Combinations({ comparison }: { comparison: Comparison }) {
  const { items, metrics, over, next } = comparison;
  if (items.length === 0) return <Empty title="No combination has ended yet" />;
  const axes = Object.keys(items[0]!.values);
  const note = [
    counted(items.length, 'combination') + (next === null ? '' : ', and there are more'),
    ...(over.length > 0 ? [`mean over ${over.join(', ')}`] : []),
    'bars are 95 % intervals of the mean',
  ].join('; ');
  return (
    <Card title="Combinations" note={note}>
      <DataTable
        rows={items}
        keyOf={({ values }) => JSON.stringify(values)}
        columns={[
          ...axes.map((axis) => ({
            title: fieldOf(axis),
            class: 'mono',
            cell: ({ values }: Combination) => inert(JSON.stringify(values[axis])),
          })),
          {
            title: 'Succeeded',
            class: 'number',
            cell: ({ succeeded, children }) => `${succeeded} of ${children}`,
          },
          ...metrics.map((metric) => {
            const range = rangeOf(items.map((one) => one.metrics[metric]));
            const cell = (one: Combination) => <Metric value={one.metrics[metric]} range={range} />;
            return { title: inert(metric), cell };
          }),
          { title: 'Rows', cell: ({ rows }) => <OutcomeCounts counts={rows} rows={knownOf(rows)} /> },
        ]}
      />
    </Card>
  );
}

type Statistics = Combination['metrics'][string] | undefined;

function Metric({ value, range }: { value: Statistics; range: [number, number] | undefined }) {
  if (value === undefined || value.mean === null) return <span class="muted">no value</span>;
  const { mean, interval, n } = value;
  const span = range && intervalOn(value, range);
  return (
    <>
      {figure(mean)}{' '}
      <span class="muted">
        {interval ? `${figure(interval.low, 3)} to ${figure(interval.high, 3)}, ` : ''}n = {n}
      </span>
      {span && (
        <span class="range" aria-hidden="true">
          <span
            class="interval-bar"
            style={{ left: `${span.from * 100}%`, width: `${(span.to - span.from) * 100}%` }}
          />
          <span class="at" style={{ left: `${span.at * 100}%` }} />
        </span>
      )}
    </>
  );
}

function Children({ detail }: { detail: Detail }) {
  return (
    <Card title="Children" note={`${count(detail.children.length)} of ${count(detail.count)}`}>
      <DataTable
        rows={detail.children}
        keyOf={({ index }) => index}
        columns={[
          { title: '#', cell: ({ index }) => index },
          {
            title: 'Experiment',
            class: 'mono',
            cell: ({ state, experiment: id }) =>
              state === null ? id : <a href={`/experiments/${id}`}>{id}</a>,
          },
          {
            title: 'Status',
            cell: ({ state, skipped, verification }) =>
              state === null ? (skipped ?? 'not created') : <Status of={{ state, verification }} />,
          },
          { title: 'Values', class: 'mono wrap', cell: ({ values }) => valuesInWords(values) },
          {
            title: 'Rows',
            cell: ({ verification: counts }) =>
              counts && <OutcomeCounts counts={counts} rows={counts.rowsSeen} />,
          },
        ]}
      />
    </Card>
  );
}

const valuesInWords = (values: Record<string, unknown>) =>
  Object.entries(values)
    .map(([field, value]) => `${fieldOf(field)}=${JSON.stringify(value)}`)
    .join(' ');

function Actions({ detail, onChange }: { detail: Detail; onChange: () => void }) {
  const path = { id: detail.id };
  const { queued, launching, running, failed } = detail.counts;
  if (!may.value('submit')) return null;
  return (
    <>
      {failed > 0 && (
        <Confirm
          label="Run the failed again"
          title="Run the failed children again?"
          verb="Run again"
          act={() => api.post('/v1/sweeps/{id}/rerun-failed', { path }).then(onChange)}
        >
          <p>{counted(failed, 'failed child', 'failed children')} will join the queue as new experiments.</p>
        </Confirm>
      )}
      {detail.state === 'running' && (
        <Confirm
          danger
          label="Cancel"
          title={`Cancel ${inert(detail.name)}?`}
          verb="Cancel the sweep"
          act={() => api.post('/v1/sweeps/{id}/cancel', { path }).then(onChange)}
        >
          <p>
            {counted(running + launching, 'running child', 'running children')} will be stopped, and{' '}
            {count(queued)} leave the queue. Children that have ended stay.
          </p>
        </Confirm>
      )}
    </>
  );
}
