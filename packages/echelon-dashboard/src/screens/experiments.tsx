import { counted } from 'command-kit/plural';
import type { Experiment as Record } from 'echelon-client/calls';
import { useMemo, useRef, useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useFeed, useThrottled } from '../app/live.ts';
import { useGet, usePolling, useResource } from '../app/resource.ts';
import { navigate, place, setQuery } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { ACTIVE, GROUPINGS, type Group, grouped, isOver, mergeNewest } from '../models/experiments.ts';
import { count, inert } from '../models/words.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Start } from '../parts/empty-installation.tsx';
import { Chips, Choice, Search } from '../parts/filters.tsx';
import { Head } from '../parts/head.tsx';
import { Await, Empty } from '../parts/states.tsx';
import { ColumnChoice, columnsFor } from './experiments/columns.tsx';
import { Selection } from './experiments/selection.tsx';

const STATES = ['queued', 'launching', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled'] as const;
/** Outcomes by which the API filters. */
const FILTERED_OUTCOMES = ['wrong', 'unverifiable', 'rounding'] as const;
const OUTCOME_LABELS = {
  wrong: 'a wrong signal',
  unverifiable: 'unverifiable rows',
  rounding: 'rounding rows',
} as const;
const PAGE = 100;
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
    search: query.get('search') || undefined,
    tag: query.get('tag') || undefined,
    project: query.get('project') || undefined,
    sweep: query.get('sweep') || undefined,
    outcome: FILTERED_OUTCOMES.find((one) => one === query.get('outcome')),
    estimator: query.get('estimator') || undefined,
  };
}

const DEFAULT_SORT = 'active';

/** The experiments as a workbench: filters, columns, order and groups are in the address. */
export function Experiments() {
  const { query } = place.value;
  const filter = filterOf(query);
  const sort = query.get('sort') || DEFAULT_SORT;
  const isFiltered = Object.values(filter).some((one) => one !== undefined);
  const list = useExperiments(filter, sort);
  const totals = useGet('/v1/queues', { query: { limit: 1 } });
  const total = totals.data && Object.values(totals.data.counts).reduce((sum, n) => sum + n, 0);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const items = list.data?.items ?? [];
  const chosen = items.filter(({ id }) => selected.has(id));
  return (
    <>
      <Head
        title="Experiments"
        command={command('ls', { ...filter, sort: sort === DEFAULT_SORT ? undefined : sort })}
        actions={
          <a class="button primary" href="/submit">
            Submit
          </a>
        }
      />
      <Filters filter={filter} isFiltered={isFiltered} />
      <div class="toolbar">
        {chosen.length > 0 ? (
          <Selection selected={chosen} onClear={() => setSelected(new Set())} onChange={list.reload} />
        ) : (
          <>
            <Search
              class="fingerprint"
              label="Estimator begins with"
              hint="Estimator…"
              name="estimator"
              value={filter.estimator}
            />
            <Choice
              label="With"
              name="outcome"
              value={filter.outcome}
              options={FILTERED_OUTCOMES.map((value) => ({ value, label: OUTCOME_LABELS[value] }))}
              none="any outcome"
            />
            <Choice
              label="Group by"
              name="group"
              value={query.get('group') ?? ''}
              options={GROUPINGS}
              none="nothing"
            />
            <ColumnChoice experiments={items} />
          </>
        )}
        <span class="muted end" role="status">
          {list.data && sayLoaded(list.data, isFiltered ? undefined : total)}
        </span>
      </div>
      <Await of={list}>
        {() => {
          if (items.length === 0) return isFiltered ? <FilteredEmpty /> : <Start />;
          return <Table {...{ items, sort, selected, onSelect: setSelected, onEnd: list.more }} />;
        }}
      </Await>
    </>
  );
}

interface TableProps {
  items: readonly Record[];
  sort: string;
  selected: ReadonlySet<string>;
  onSelect: (to: ReadonlySet<string>) => void;
  onEnd: () => void;
}

type Line = Record | Group;
const isGroup = (line: Line): line is Group => 'group' in line;
const isNarrow = () => matchMedia('(width < 760px)').matches;

function Table({ items, sort, selected, onSelect, onEnd }: TableProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const by = GROUPINGS.find((one) => one === place.value.query.get('group'));
  const lines: Line[] = by === undefined ? [...items] : grouped(items, by, closed);
  const columns = [checkColumn(selected, onSelect), ...columnsFor(items)];
  return (
    <DataTable
      class="experiments"
      fold="minmax(0, 1fr) auto"
      rows={lines}
      keyOf={(line) => (isGroup(line) ? line.group : line.id)}
      onPick={(line) => !isGroup(line) && navigate(`/experiments/${line.id}`)}
      headingOf={(line) =>
        isGroup(line) && (
          <GroupHead group={line} by={by!} onToggle={() => setClosed(toggled(closed, line.group))} />
        )
      }
      // A heading shows no cell.
      columns={columns as unknown as Column<Line>[]}
      sort={{ by: sort, choose: (to) => setQuery({ sort: to }) }}
      view={{ label: 'Experiments', height: isNarrow() ? 84 : 27, onEnd }}
    />
  );
}

function GroupHead({ group, by, onToggle }: { group: Group; by: string; onToggle: () => void }) {
  const { title, size, active, wrong, isClosed, group: key } = group;
  return (
    <span class="one-line">
      <button type="button" class="link" aria-expanded={!isClosed} onClick={onToggle}>
        <span aria-hidden="true">{isClosed ? '▸' : '▾'}</span> {inert(title)}
      </button>
      <span class="muted">
        {counted(size, 'experiment')}
        {active > 0 && `, ${count(active)} active`}
      </span>
      {wrong > 0 && <span class="badge s-signal-wrong">{count(wrong)} wrong</span>}
      {by === 'sweep' && key !== '' && <a href={`/sweeps/${key}`}>Open the sweep</a>}
    </span>
  );
}

function toggled(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  return set.has(one) ? new Set([...set].filter((other) => other !== one)) : new Set([...set, one]);
}

const checkColumn = (selected: ReadonlySet<string>, onSelect: TableProps['onSelect']): Column<Record> => ({
  title: 'Select',
  isSilent: true,
  class: 'check wide',
  width: '34px',
  cell: ({ id, name }) => (
    <label>
      <input
        type="checkbox"
        aria-label={`Select ${inert(name)}`}
        checked={selected.has(id)}
        onChange={() => onSelect(toggled(selected, id))}
      />
    </label>
  ),
});

function sayLoaded({ items, next, sorted }: Pages, total: number | undefined): string {
  const loaded = items.length;
  const of = total ?? sorted ?? undefined;
  if (of !== undefined) return `${count(loaded)} of ${counted(Math.max(of, loaded), 'experiment')}`;
  return next !== null ? `${count(loaded)} loaded, more match` : `${count(loaded)} match`;
}

function Filters({ filter, isFiltered }: { filter: ReturnType<typeof filterOf>; isFiltered: boolean }) {
  const states = filter.state ?? [];
  const toggle = (own: string[]) => {
    const has = own.every((one) => states.includes(one as never));
    setQuery({ state: has ? states.filter((one) => !own.includes(one)) : [...new Set([...states, ...own])] });
  };
  return (
    <div class="toolbar" role="search">
      <Search
        data-filter
        label="Search names, ids, notes and tags"
        hint="Search name, note, tag…   /"
        name="search"
        value={filter.search}
      />
      <Chips
        options={CHIPS}
        labelOf={([label]) => label}
        isOn={([, own]) => own.every((one) => states.includes(one as never))}
        onToggle={([, own]) => toggle(own)}
      />
      <Search class="short" label="Project" hint="Project" name="project" value={filter.project} />
      <Search class="short" label="Tag" hint="Tag" name="tag" value={filter.tag} />
      {isFiltered && (
        <button type="button" class="link" onClick={dropFilters}>
          Clear filters
        </button>
      )}
    </div>
  );
}

/** Parts of the address that are no filter. */
const LOOK = new Set(['columns', 'sort', 'group']);
const filtersOf = (query: URLSearchParams) => [...query].filter(([name]) => !LOOK.has(name));

const dropFilters = () =>
  setQuery(Object.fromEntries(filtersOf(place.value.query).map(([name]) => [name, undefined])));

function FilteredEmpty() {
  return (
    <Empty title="No experiment matches these filters">
      <p>
        {filtersOf(place.value.query)
          .map(([name, value]) => `${name}: ${inert(value)}`)
          .join(' · ')}
      </p>
      <p>
        <button type="button" onClick={dropFilters}>
          Clear the filters
        </button>
      </p>
    </Empty>
  );
}

interface Pages {
  items: Record[];
  next: string | null;
  sorted: number | null;
}

/** The pages loaded so far; the first is asked again while something runs and after each event. */
function useExperiments(filter: ReturnType<typeof filterOf>, sort: string) {
  const isMoreWanted = useRef(false);
  const list = useResource<Pages>(
    async (signal, last) => {
      const get = (cursor?: string) =>
        api.get('/v1/experiments', { query: { ...filter, sort, cursor, limit: PAGE }, signal });
      /** A page on which no experiment fits the filters is not the end of the list. */
      const getFilled = async (cursor?: string) => {
        let page = await get(cursor);
        while (page.items.length === 0 && page.next !== null) page = await get(page.next);
        return page;
      };
      if (last === undefined) return getFilled();
      if (!isMoreWanted.current || last.next === null) {
        const page = await get();
        return { ...page, items: mergeNewest(last.items, page.items, page.next !== null), next: last.next };
      }
      const page = await getFilled(last.next);
      isMoreWanted.current = false;
      const known = new Set(last.items.map(({ id }) => id));
      return { ...page, items: [...last.items, ...page.items.filter(({ id }) => !known.has(id))] };
    },
    [filter, sort],
  );
  const items = list.data?.items;
  const refresh = useThrottled(list.reload, sort === DEFAULT_SORT ? 1000 : 5000);
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
