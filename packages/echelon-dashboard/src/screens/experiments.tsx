import type { Experiment as Record } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { useMemo, useRef } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet, usePolling, useResource } from '../app/resource.ts';
import { navigate, place, setQuery } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { ACTIVE, isOver, mergeNewest } from '../models/experiments.ts';
import { count, inert } from '../models/words.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Start } from '../parts/empty-installation.tsx';
import { Chips, Choice, Search } from '../parts/filters.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Outcomes, Progress, Status } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

const STATES = ['queued', 'launching', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled'] as const;
/** Outcomes by which the API filters. */
const FILTERED_OUTCOMES = ['wrong', 'unverifiable', 'rounding'] as const;
const CHIPS: [label: string, states: string[]][] = [
  ['Queued', ['queued']],
  ['Running', [...ACTIVE]],
  ['Succeeded', ['succeeded']],
  ['Failed', ['failed']],
  ['Cancelled', ['cancelled']],
];

function filterOf(query: URLSearchParams) {
  const states = query.getAll('state').filter((one) => (STATES as readonly string[]).includes(one));
  return {
    state: states.length > 0 ? (states as (typeof STATES)[number][]) : undefined,
    name: query.get('name') || undefined,
    project: query.get('project') || undefined,
    sweep: query.get('sweep') || undefined,
    outcome: FILTERED_OUTCOMES.find((one) => one === query.get('outcome')),
    estimator: query.get('estimator') || undefined,
  };
}

/** The experiments, newest first: which ran, with which outcome. */
export function Experiments() {
  const filter = filterOf(place.value.query);
  const isFiltered = Object.values(filter).some((one) => one !== undefined);
  const list = useExperiments(filter);
  const totals = useGet('/v1/queues', { query: { limit: 1 } });
  const total = totals.data && Object.values(totals.data.counts).reduce((sum, n) => sum + n, 0);
  const loaded = list.data;
  return (
    <>
      <Head
        title="Experiments"
        command={command('ls', filter)}
        actions={
          <a class="button primary" href="/submit">
            Submit
          </a>
        }
      />
      <Filters filter={filter} isFiltered={isFiltered}>
        <span class="muted end" role="status">
          {loaded && sayLoaded(loaded, isFiltered ? undefined : total)}
        </span>
      </Filters>
      <Await of={list}>
        {({ items }) => {
          if (items.length === 0) return isFiltered ? <FilteredEmpty /> : <Start />;
          return (
            <DataTable
              class="experiments"
              fold="minmax(0, 1fr) auto"
              rows={items}
              keyOf={({ id }) => id}
              onPick={({ id }) => navigate(`/experiments/${id}`)}
              columns={COLUMNS}
              view={{
                label: 'Experiments',
                height: matchMedia('(width < 760px)').matches ? 84 : 54,
                onEnd: list.more,
              }}
            />
          );
        }}
      </Await>
    </>
  );
}

function sayLoaded({ items, next }: Pages, total: number | undefined): string {
  const loaded = items.length;
  if (total !== undefined) return `${count(loaded)} of ${counted(Math.max(total, loaded), 'experiment')}`;
  return next !== null ? `${count(loaded)} loaded, more match` : `${count(loaded)} match`;
}

function Filters({
  filter,
  isFiltered,
  children,
}: {
  filter: ReturnType<typeof filterOf>;
  isFiltered: boolean;
  children: preact.ComponentChildren;
}) {
  const states = filter.state ?? [];
  const toggle = (own: string[]) => {
    const has = own.every((one) => states.includes(one as never));
    setQuery({ state: has ? states.filter((one) => !own.includes(one)) : [...new Set([...states, ...own])] });
  };
  return (
    <div class="toolbar" role="search">
      <Search data-filter label="Name begins with" hint="Name begins with…" name="name" value={filter.name} />
      <Search class="short" label="Project" hint="Project" name="project" value={filter.project} />
      <Chips
        options={CHIPS}
        labelOf={([label]) => label}
        isOn={([, own]) => own.every((one) => states.includes(one as never))}
        onToggle={([, own]) => toggle(own)}
      />
      <Search
        class="fingerprint"
        label="Estimator begins with"
        hint="Estimator…"
        name="estimator"
        value={filter.estimator}
      />
      <Choice
        label="With rows"
        name="outcome"
        value={filter.outcome}
        options={FILTERED_OUTCOMES}
        none="of any outcome"
      />
      {isFiltered && (
        <button type="button" class="link" onClick={dropFilters}>
          Clear filters
        </button>
      )}
      {children}
    </div>
  );
}

const dropFilters = () =>
  setQuery(Object.fromEntries([...place.value.query.keys()].map((name) => [name, undefined])));

function FilteredEmpty() {
  return (
    <Empty title="No experiment matches these filters">
      <p>{[...place.value.query].map(([name, value]) => `${name}: ${inert(value)}`).join(' · ')}</p>
      <p>
        <button type="button" onClick={dropFilters}>
          Clear the filters
        </button>
      </p>
    </Empty>
  );
}

const COLUMNS: Column<Record>[] = [
  { title: 'Experiment', width: '28%', cell: (one) => <Name experiment={one} /> },
  {
    title: 'Status',
    width: '23%',
    cell: (one) => (
      <>
        <Status of={one} />
        <div class="muted small clip wide" title={inert(one.reason)}>
          {inert(one.reason)}
        </div>
      </>
    ),
  },
  { title: 'Estimator', class: 'wider', width: '11%', cell: ({ resolved }) => <Estimator of={resolved} /> },
  { title: 'Progress', class: 'wide', width: '12%', cell: (one) => <Progress of={one} /> },
  {
    title: 'Rows verified',
    width: '17%',
    cell: ({ verification }) => <Outcomes counts={verification} rows={verification.rowsSeen} />,
  },
  { title: 'Submitted', class: 'muted', width: '9%', cell: ({ submittedAt }) => <Ago at={submittedAt} /> },
];

function Name({ experiment: { id, name, project, marks } }: { experiment: Record }) {
  return (
    <>
      <a href={`/experiments/${id}`} class="clip name">
        {inert(name)}
      </a>
      <div class="muted clip">
        <span class="mono">{id}</span> · {project}
        {marks > 0 && <span class="mark"> · ⚑ {counted(marks, 'mark')}</span>}
      </div>
    </>
  );
}

function Estimator({ of: { engine, estimator } }: { of: Record['resolved'] }) {
  const name = (estimator as { name?: string } | undefined)?.name;
  return (
    <>
      <div class="clip">{name ?? String(engine)}</div>
      <div class="muted clip mono">{name ? String(engine) : ''}</div>
    </>
  );
}

interface Pages {
  items: Record[];
  next: string | null;
}

/** The pages loaded so far; the newest page is asked again while something runs and after each event. */
function useExperiments(filter: ReturnType<typeof filterOf>) {
  const isMoreWanted = useRef(false);
  const list = useResource<Pages>(
    async (signal, last) => {
      const get = (cursor?: string) =>
        api.get('/v1/experiments', { query: { ...filter, cursor, limit: 100 }, signal });
      /** A page on which no experiment fits the filters is not the end of the list. */
      const getFilled = async (cursor?: string) => {
        let page = await get(cursor);
        while (page.items.length === 0 && page.next !== null) page = await get(page.next);
        return page;
      };
      if (last === undefined) return getFilled();
      if (!isMoreWanted.current || last.next === null) {
        const page = await get();
        return { items: mergeNewest(last.items, page.items, page.next !== null), next: last.next };
      }
      const page = await getFilled(last.next);
      isMoreWanted.current = false;
      return { items: [...last.items, ...page.items], next: page.next };
    },
    [filter],
  );
  const items = list.data?.items;
  const refresh = useThrottled(list.reload, 1000);
  useFeed(refresh);
  // The feed tells of queued ones; the others make progress without an event of the feed.
  const isActive = useMemo(
    () => items?.some((one) => one.state !== 'queued' && !isOver(one)) ?? false,
    [items],
  );
  usePolling(refresh, 3000, isActive);
  const more = () => {
    isMoreWanted.current = true;
    list.reload();
  };
  return { ...list, more };
}
