import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { useMemo, useRef, useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet, useResource } from '../app/resource.ts';
import { place } from '../app/router.ts';
import { may } from '../app/session.ts';
import { differencesOf, namesOf, titleOf, valueInWords } from '../models/combinations.ts';
import { command } from '../models/commands.ts';
import { chooseMetrics } from '../models/curves.ts';
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
import { Parallel } from './sweep/parallel.tsx';

type Comparison = Answer<'get', '/v1/sweeps/{id}/comparison'>;
type Combination = Comparison['items'][number];
type Detail = Answer<'get', '/v1/sweeps/{id}'>;

const PAGE = 200;

/** A sweep: which setting is best, and how sure that is. */
export function Sweep({ params }: { params: Record<string, string> }) {
  const path = { id: params.id! };
  const [tick, setTick] = useState(0);
  const sweep = useGet('/v1/sweeps/{id}', { path, query: { limit: PAGE } });
  const { known, isKnown } = useMetrics(sweep.data, tick);
  const own = sweep.data?.metric.name;
  const metric =
    place.value.query.get('metric') ?? (known.includes(own ?? '') ? own : chooseMetrics(known, 1)[0]);
  const table = useGet('/v1/sweeps/{id}/comparison', {
    path,
    query: { limit: PAGE, metrics: metric === undefined ? undefined : [metric] },
  });
  // While another metric loads, the last table stays.
  const last = useRef(table);
  if (!table.loading) last.current = table;
  const names = useMemo(() => nameMap(last.current.data?.items ?? []), [last.current.data]);
  const nameOf = (values: Values) => names.get(JSON.stringify(values)) ?? JSON.stringify(values);
  const refresh = useThrottled(() => {
    setTick((n) => n + 1);
    sweep.reload();
    table.reload();
  }, 2000);
  useFeed(refresh);
  return (
    <Await of={{ ...sweep, data: isKnown && !last.current.loading ? sweep.data : undefined }}>
      {(detail) => (
        <>
          <Head
            title={inert(detail.name)}
            path={[['/sweeps', 'Sweeps']]}
            command={command(`sweeps compare ${detail.id}`)}
            actions={
              <>
                {detail.comparison !== null && <a href={`/comparisons/${detail.id}`}>Comparison</a>}
                <Actions detail={detail} onChange={refresh} />
              </>
            }
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
            <Await of={last.current}>
              {(comparison) => <Combinations {...{ comparison, nameOf }} own={detail.metric} />}
            </Await>
            <Bands sweep={detail.id} {...{ metric, nameOf, tick }} metrics={known} />
            <Children detail={detail} />
          </div>
        </>
      )}
    </Await>
  );
}

type Values = Readonly<Record<string, unknown>>;

const nameMap = (items: readonly { values: Values }[]) => {
  const names = namesOf(items.map(({ values }) => values));
  return new Map(items.map(({ values }, at) => [JSON.stringify(values), names[at]!]));
};

/** Metrics of the first child that has begun. */
function useMetrics(sweep: Detail | undefined, tick: number) {
  const begun =
    sweep?.children.find(({ state }) => state !== null && state !== 'queued') ?? sweep?.children[0];
  const id = begun?.experiment;
  const names = useResource(
    async (signal) =>
      id === undefined
        ? []
        : (await api.get('/v1/experiments/{id}/metrics/names', { path: { id }, signal })).items,
    ['metrics', id],
    tick,
  );
  return { known: names.data?.map(({ name }) => name) ?? [], isKnown: id !== undefined && !names.loading };
}

interface CombinationsProps {
  comparison: Comparison;
  nameOf: (of: Values) => string;
  own: Detail['metric'];
}

function Combinations({ comparison, nameOf, own }: CombinationsProps) {
  const { items, metrics, over, next } = comparison;
  if (items.length === 0) return <Empty title="No combination has ended yet" />;
  const differences = differencesOf(items.map(({ values }) => values));
  const note = [
    counted(items.length, 'combination') + (next === null ? '' : ', and there are more'),
    ...(over.length > 0 ? [`mean over ${over.map((axis) => axis.split('/').at(-1)).join(', ')}`] : []),
    'bars are 95 % intervals of the mean',
  ].join('; ');
  const [metric = ''] = metrics;
  const means = items.map((one) => one.metrics[metric]?.mean ?? null);
  const isPlotted = items.length > 2 && means.filter((mean) => mean !== null).length > 1;
  return (
    <Card title="Combinations" note={note}>
      {isPlotted && (
        <Parallel
          {...{ differences, metric, means }}
          goal={own.name === metric ? own.goal : 'max'}
          names={items.map((one) => nameOf(one.values))}
        />
      )}
      <DataTable
        rows={items.map((one, at) => ({ ...one, at }))}
        keyOf={({ at }) => at}
        columns={[
          ...differences.map(({ field, short, values }) => ({
            title: titleOf({ field, short }),
            cell: ({ at }: { at: number }) => inert(valueInWords(values[at])),
            value: ({ at }: { at: number }) => sortable(values[at]),
          })),
          ...metrics.map((name) => {
            const range = rangeOf(items.map((one) => one.metrics[name]));
            const cell = (one: Combination) => <Metric value={one.metrics[name]} range={range} />;
            return {
              title: inert(name),
              class: 'number-first',
              cell,
              value: (one: Combination) => one.metrics[name]?.mean,
            };
          }),
          {
            title: 'Succeeded',
            class: 'number',
            cell: ({ succeeded, children }) => `${succeeded} of ${children}`,
            value: ({ succeeded }) => succeeded,
          },
          { title: 'Rows', cell: ({ rows }) => <OutcomeCounts counts={rows} rows={knownOf(rows)} /> },
        ]}
      />
    </Card>
  );
}

const sortable = (value: unknown) =>
  typeof value === 'number' ? value : value === undefined ? null : String(value);

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
  const names = namesOf(detail.children.map(({ values }) => values));
  return (
    <Card title="Children" note={`${count(detail.children.length)} of ${count(detail.count)}`}>
      <DataTable
        rows={detail.children.map((child, at) => ({ ...child, name: names[at]! }))}
        keyOf={({ index }) => index}
        columns={[
          { title: '#', class: 'number', cell: ({ index }) => index, value: ({ index }) => index },
          {
            title: 'Child',
            cell: ({ state, experiment: id, name }) =>
              state === null ? inert(name) : <a href={`/experiments/${id}`}>{inert(name)}</a>,
            value: ({ name }) => name,
          },
          {
            title: 'Status',
            cell: ({ state, skipped, verification }) =>
              state === null ? (skipped ?? 'not created') : <Status of={{ state, verification }} />,
            value: ({ state }) => state,
          },
          {
            title: 'Rows',
            cell: ({ verification: counts }) =>
              counts && <OutcomeCounts counts={counts} rows={counts.rowsSeen} />,
            value: ({ verification }) => verification?.wrong,
          },
        ]}
      />
    </Card>
  );
}

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
