import type { SignalPage } from 'echelon-client/calls';
import { useState } from 'preact/hooks';
import { api } from '../../app/api.ts';
import { useResource } from '../../app/resource.ts';
import { Curve } from '../../charts/curve.tsx';
import { curvesOf } from '../../models/curves.ts';
import { figure } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { Await, Empty } from '../../parts/states.tsx';

const PAGE = 200;
/** MAX pages that are read: 10,000 batches. */
const MAX_PAGES = 50;

type Point = SignalPage['items'][number];

/** What the batches offered to learn from, over the steps; read when the user opens it. */
export function SignalCurves({ id, tick }: { id: string; tick: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="card signal" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>Signal over the steps</strong>{' '}
        <span class="muted">describes the signal, does not predict success</span>
      </summary>
      {isOpen && <Curves {...{ id, tick }} />}
    </details>
  );
}

function Curves({ id, tick }: { id: string; tick: number }) {
  const points = useResource((signal) => pointsOf(id, signal), ['signal', id], tick);
  return (
    <Await of={points}>
      {(items) => {
        const names = [...new Set(items.flatMap(({ values }) => Object.keys(values)))];
        if (names.length === 0) return <Empty title="No verified batch has observations and returns" />;
        return (
          <div class="charts">
            {names.map((name) => (
              <Figure key={name} name={name} items={items} />
            ))}
          </div>
        );
      }}
    </Await>
  );
}

function Figure({ name, items }: { name: string; items: readonly Point[] }) {
  const points = items.flatMap(({ attempt, step, values }) => {
    const value = values[name];
    if (value === undefined) return [];
    return [{ attempt, from: step, to: step, count: 1, min: value, max: value, mean: value, at: null }];
  });
  const last = points.at(-1)?.mean;
  return (
    <Card label={name} title={<h2 class="clip">{name}</h2>} end={<strong>{figure(last)}</strong>}>
      <Curve
        data={curvesOf([{ name, points }])}
        strip={[]}
        label={`${name} over ${points.length} batches; last ${figure(last)}`}
      />
    </Card>
  );
}

async function pointsOf(id: string, signal: AbortSignal): Promise<Point[]> {
  const items: Point[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { limit: PAGE, cursor };
    const answer = await api.get('/v1/experiments/{id}/signal', { path: { id }, query, signal });
    items.push(...answer.items);
    if (answer.next === null) break;
    cursor = answer.next;
  }
  return items;
}
