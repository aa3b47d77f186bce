import { OUTCOMES, SHAPES } from '../models/outcomes.ts';
import { cellsOf, type ListedBatch } from '../models/strip.ts';
import { count } from '../models/words.ts';

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
  return (
    <section class="card strip-card" aria-label="Batches by outcome">
      <div class="card-head">
        <h2>Advantage batches</h2>
        <span class="muted">
          {batches.length < total ? `first ${count(batches.length)} of ${count(total)}` : count(total)}
          {each > 1 && `; each cell is ${each} batches and shows the worst`}
        </span>
        <span class="legend end">
          {OUTCOMES.map((outcome) => (
            <span key={outcome} class={`outcome ${outcome}`}>
              <span aria-hidden="true">{SHAPES[outcome]}</span> {outcome}
            </span>
          ))}
        </span>
      </div>
      <div class="strip">
        {cells.map(({ first, worst, target, label }) => (
          <a
            key={`${first.attempt}/${first.batch}`}
            class={worst ?? 'pending'}
            href={`/experiments/${experiment}/batches/${target.attempt}/${target.batch}`}
            title={label}
          >
            <span class="hidden">{label}</span>
            <span aria-hidden="true">{cells.length <= 60 ? SHAPES[worst ?? 'pending'] : ''}</span>
          </a>
        ))}
      </div>
    </section>
  );
}
