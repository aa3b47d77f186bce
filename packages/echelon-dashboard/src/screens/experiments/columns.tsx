import { counted } from 'command-kit/plural';
import type { Experiment } from 'echelon-client/calls';
import { place, setQuery } from '../../app/router.ts';
import { now } from '../../app/server-clock.ts';
import { chooseMetrics } from '../../models/curves.ts';
import { count, duration, figure, inert } from '../../models/words.ts';
import type { Column } from '../../parts/data-table.tsx';
import { Ago, MiddleClip, Muted, Outcomes, Progress, Status } from '../../parts/marks.tsx';

type Shown = Column<Experiment>;

/** The columns that a user can choose, by their names in the address. A column `metric:NAME` shows a metric. */
const COLUMNS: Record<string, Shown> = {
  name: { title: 'Experiment', class: 'line', sort: 'name', cell: (one) => <Name experiment={one} /> },
  status: {
    title: 'Status',
    width: '218px',
    cell: (one) => (
      <span title={inert(one.reason)}>
        <Status of={one} />
      </span>
    ),
  },
  main: { title: 'Main metric', class: 'wide', width: '140px', cell: (one) => <MainMetric of={one} /> },
  progress: {
    title: 'Progress',
    class: 'wide',
    width: '118px',
    sort: 'progress',
    cell: (one) => <Progress of={one} />,
  },
  rows: {
    title: 'Rows verified',
    class: 'line',
    width: '180px',
    sort: 'wrong',
    cell: ({ verification }) => <Outcomes counts={verification} rows={verification.rowsSeen} />,
  },
  cluster: {
    title: 'Cluster',
    class: 'wider',
    width: '70px',
    sort: 'cluster',
    cell: ({ cluster }) => cluster ?? '–',
  },
  gpus: {
    title: 'GPUs',
    class: 'number wider',
    width: '52px',
    sort: 'gpus',
    cell: ({ gpus }) => count(gpus),
  },
  duration: {
    title: 'Duration',
    class: 'number wider',
    width: '74px',
    sort: 'duration',
    cell: ({ startedAt, endedAt }) => (startedAt === null ? '–' : duration((endedAt ?? now()) - startedAt)),
  },
  submitted: {
    title: 'Submitted',
    class: 'muted number',
    width: '90px',
    sort: 'submitted',
    cell: ({ submittedAt }) => <Ago at={submittedAt} />,
  },
  ended: {
    title: 'Ended',
    class: 'muted number',
    width: '100px',
    sort: 'ended',
    cell: ({ endedAt }) => <Ago at={endedAt} />,
  },
  id: { title: 'Id', class: 'mono', width: '190px', cell: ({ id }) => id },
  project: { title: 'Project', width: '100px', sort: 'project', cell: ({ project }) => project },
  owner: { title: 'Owner', width: '110px', sort: 'owner', cell: ({ owner }) => inert(owner ?? '–') },
  estimator: {
    title: 'Estimator',
    width: '110px',
    cell: ({ resolved }) =>
      (resolved.estimator as { name?: string } | undefined)?.name ?? String(resolved.engine),
  },
  priority: {
    title: 'Priority',
    class: 'number',
    width: '80px',
    sort: 'priority',
    cell: ({ priority, priorityClass }) =>
      priorityClass === 'normal' ? priority : `${priorityClass} ${priority}`,
  },
  sweep: {
    title: 'Sweep',
    class: 'mono',
    width: '190px',
    sort: 'sweep',
    cell: ({ sweep }) => (sweep === null ? '–' : <a href={`/sweeps/${sweep}`}>{sweep}</a>),
  },
  reason: { title: 'Reason', class: 'muted', width: '260px', cell: ({ reason }) => inert(reason) },
  note: { title: 'Note', class: 'muted', width: '220px', cell: ({ note }) => inert(note) },
};
const DEFAULT = ['name', 'status', 'main', 'progress', 'rows', 'cluster', 'gpus', 'duration', 'submitted'];
const METRIC = 'metric:';
/** Metrics that are offered as columns. */
const METRICS_SHOWN = 60;
const STORED = 'echelon.columns';

/** The chosen columns: of the address, else those that this browser chose last. */
function chosenColumns(): string[] {
  const asked = place.value.query.get('columns') ?? localStorage.getItem(STORED) ?? '';
  const known = asked.split(',').filter((name) => name in COLUMNS || name.startsWith(METRIC));
  return known.length > 0 ? known : DEFAULT;
}

const columnOf = (name: string): Shown => COLUMNS[name] ?? metricColumn(name.slice(METRIC.length));

const metricColumn = (name: string): Shown => ({
  title: inert(name),
  class: 'number',
  width: '130px',
  sort: `${METRIC}${name}`,
  cell: ({ progress }) => (name in progress.metrics ? figure(progress.metrics[name]) : '–'),
});

/** The columns for these experiments: if their main metric is the same, its name stands once, above the values. */
export function columnsFor(experiments: readonly Experiment[]): Shown[] {
  const [name, ...others] = new Set(experiments.flatMap((one) => mainOf(one) ?? []));
  const chosen = chosenColumns();
  if (name === undefined || others.length > 0) return chosen.map(columnOf);
  const main = { ...metricColumn(name), class: 'number wide', width: '118px' };
  return chosen
    .filter((one) => one !== 'main' || !chosen.includes(`${METRIC}${name}`))
    .map((one) => (one === 'main' ? main : columnOf(one)));
}

const mainOf = ({ progress }: Experiment) => chooseMetrics(Object.keys(progress.metrics), 1)[0];

/** Chooses columns; metrics are those of the experiments that are loaded. */
export function ColumnChoice({ experiments }: { experiments: readonly Experiment[] }) {
  const chosen = chosenColumns();
  const metrics = [...new Set(experiments.flatMap(({ progress }) => Object.keys(progress.metrics)))];
  const names = [
    ...Object.keys(COLUMNS).filter((name) => name !== 'name'),
    ...new Set([
      ...chosen.filter((name) => name.startsWith(METRIC)),
      ...metrics
        .sort()
        .slice(0, METRICS_SHOWN)
        .map((name) => `${METRIC}${name}`),
    ]),
  ];
  const toggle = (name: string) => {
    const to = chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name];
    localStorage.setItem(STORED, to.join());
    setQuery({ columns: to.join() === DEFAULT.join() ? undefined : to.join() });
  };
  return (
    <details class="choice-menu">
      <summary class="button">Columns</summary>
      <div class="menu">
        {names.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />{' '}
            {columnOf(name).title}
          </label>
        ))}
      </div>
    </details>
  );
}

function Name({ experiment: { id, name, tags, note, marks } }: { experiment: Experiment }) {
  return (
    <span class="one-line">
      <a href={`/experiments/${id}`} class="name" title={inert(name)}>
        <MiddleClip text={name} />
      </a>
      {tags.map((tag) => (
        <a key={tag} class="tag" href={`/experiments?tag=${encodeURIComponent(tag)}`}>
          {tag}
        </a>
      ))}
      {note !== '' && (
        <span class="muted" role="img" aria-label="has a note" title={inert(note)}>
          ✎
        </span>
      )}
      {marks > 0 && (
        <span class="mark" title={`Rules fired ${counted(marks, 'time')}`}>
          ⚑ {marks}
        </span>
      )}
    </span>
  );
}

function MainMetric({ of }: { of: Experiment }) {
  const name = mainOf(of);
  if (name === undefined) return <Muted>–</Muted>;
  return (
    <span class="one-line" title={inert(name)}>
      <span>{figure(of.progress.metrics[name])}</span> <span class="muted clip small">{inert(name)}</span>
    </span>
  );
}
