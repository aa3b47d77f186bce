import { counted } from 'command-kit/plural';
import type { Answer, Experiment } from 'echelon-client/calls';
import { useGet } from '../../app/resource.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { chooseMetrics } from '../../models/curves.ts';
import { allocatedOf } from '../../models/now.ts';
import { count, figure, inert } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Ago, Muted, OutcomeCounts, Progress, Status } from '../../parts/marks.tsx';

const SHOWN = 20;
const POINTS = 48;

interface RunningProps {
  experiments: readonly Experiment[];
  allocations: Answer<'get', '/v1/allocations'> | undefined;
  /** Rises when there is something new. */
  tick: number;
}

/** The running experiments, those with a wrong signal first: main metric, progress, expected end, GPUs and rows of each. */
export function Running({ experiments, allocations, tick }: RunningProps) {
  const isWrong = ({ verification }: Experiment) => Number(verification.signal === 'wrong');
  const shown = experiments.toSorted((a, b) => isWrong(b) - isWrong(a)).slice(0, SHOWN);
  const allocated = allocatedOf(allocations?.items ?? []);
  const gpus = [...allocated.values()].reduce((sum, one) => sum + one.gpus, 0);
  const more = experiments.length > SHOWN ? `, ${SHOWN} of them are shown` : '';
  return (
    <Card
      title="Running"
      note={`${counted(experiments.length, 'experiment')} on ${counted(gpus, 'GPU')}${more}`}
      end={experiments.length > SHOWN && <a href="/experiments?state=running">Show all</a>}
    >
      {shown.length === 0 ? (
        <p class="card-body muted">Nothing runs.</p>
      ) : (
        <Table {...{ shown, allocated, tick }} />
      )}
    </Card>
  );
}

interface TableProps {
  shown: readonly Experiment[];
  allocated: ReturnType<typeof allocatedOf>;
  tick: number;
}

function Table({ shown, allocated, tick }: TableProps) {
  const mainOf = ({ progress }: Experiment) => chooseMetrics(Object.keys(progress.metrics), 1)[0];
  const names = [...new Set(shown.flatMap((one) => mainOf(one) ?? []))];
  const ids = shown.map(({ id }) => id);
  const charts = useGet(
    '/v1/metrics',
    { query: { experiments: ids, names: names.length > 0 ? names : ['none'], resolution: POINTS } },
    tick,
  );
  const valuesOf = (id: string, name: string): number[] => {
    const series = charts.data?.items.find(({ experiment }) => experiment === id)?.series;
    const points = series?.find((one) => one.name === name)?.points ?? [];
    return points.flatMap(({ mean }) => (mean === null ? [] : [mean]));
  };
  return (
    <DataTable
      class="running"
      fold="minmax(0, 1fr) auto"
      rows={shown}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Experiment', class: 'named', cell: nameOf },
        { title: 'Status', cell: (one) => <Status of={one} /> },
        {
          title: names.length === 1 ? inert(names[0]!) : 'Main metric',
          class: 'wide',
          cell: (one) => {
            const name = mainOf(one);
            if (name === undefined) return <Muted>no metrics yet</Muted>;
            return (
              <>
                <Sparkline values={valuesOf(one.id, name)} /> {figure(one.progress.metrics[name])}
                {names.length > 1 && <span class="muted small"> {inert(name)}</span>}
              </>
            );
          },
        },
        { title: 'Progress', class: 'line', cell: (one) => <Progress of={one} /> },
        {
          title: 'Ends',
          class: 'wide',
          cell: ({ id }) => <Ago at={allocated.get(id)?.endAt ?? null} never="unknown" />,
        },
        { title: 'GPUs', class: 'number wide', cell: ({ id }) => count(allocated.get(id)?.gpus ?? 0) },
        {
          title: 'Rows',
          class: 'line',
          cell: ({ verification }) => <OutcomeCounts counts={verification} rows={verification.rowsSeen} />,
        },
      ]}
    />
  );
}

/** A child of a sweep is called by its own values; the name of its sweep is on the second line. */
function nameOf({ id, name, project, cluster, sweep }: Experiment) {
  const end = sweep === null ? -1 : name.indexOf(': ');
  const place = [...(end > 0 ? [name.slice(0, end)] : []), project, ...(cluster === null ? [] : [cluster])];
  return (
    <>
      <a href={`/experiments/${id}`}>{inert(end > 0 ? name.slice(end + 2) : name)}</a>
      <div class="muted">{inert(place.join(' · '))}</div>
    </>
  );
}
