import { OUTCOMES, SHAPES } from '../models/outcomes.ts';
import { cellsOf, type ListedBatch, restartInWords, restartsOf } from '../models/strip.ts';
import { count } from '../models/words.ts';
import { Card } from './card.tsx';
import { Outcome } from './marks.tsx';

/** The batches of an experiment, one cell each, by their worst outcome. */
export function Strip({
  experiment,
  batches,
  total,
}: {
  experiment: string;
  batches: ListedBatch[];
  total: number;
}) {
  const cells = cellsOf(batches);
  const each = cells[0]?.batches ?? 1;
  const restarts = new Map(restartsOf(batches).map((one) => [one.attempt, one]));
  let shown = cells[0]?.first.attempt;
  return (
    <Card
      class="strip-card"
      label="Batches by outcome"
      title="Advantage batches"
      note={
        (batches.length < total ? `first ${count(batches.length)} of ${count(total)}` : count(total)) +
        (each > 1 ? `; each cell is ${each} batches and shows the worst` : '')
      }
      end={
        <span class="legend">
          {OUTCOMES.map((outcome) => (
            <Outcome key={outcome} outcome={outcome} />
          ))}
        </span>
      }
    >
      <div class="strip">
        {cells.map(({ first, worst, target, label: own }) => {
          const restart = first.attempt === shown ? undefined : restarts.get(first.attempt);
          shown = first.attempt;
          const label = restart ? `${restartInWords(restart)}; ${own}` : own;
          return (
            <a
              key={`${first.attempt}/${first.batch}`}
              class={`${worst ?? 'pending'}${restart ? ' restart' : ''}`}
              href={`/experiments/${experiment}/batches/${target.attempt}/${target.batch}`}
              title={label}
            >
              <span class="hidden">{label}</span>
              <span aria-hidden="true">{cells.length <= 60 ? SHAPES[worst ?? 'pending'] : ''}</span>
            </a>
          );
        })}
      </div>
      {restarts.size > 0 && (
        <p class="card-body muted small">
          Restarts: {[...restarts.values()].map(restartInWords).join('; ')}.
        </p>
      )}
    </Card>
  );
}
