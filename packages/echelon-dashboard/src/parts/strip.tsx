import { counted } from 'command-kit/plural';
import { restartInWords, restartsOf } from 'echelon-client/restarts';
import { STAGES, type StageName } from 'echelon-verify/report';
import { OUTCOMES, SHAPES } from '../models/outcomes.ts';
import { batchesOfCell, cellsOf, type ListedBatch, stagesOf } from '../models/strip.ts';
import { count } from '../models/words.ts';
import { Card } from './card.tsx';
import { Outcome } from './marks.tsx';

interface StripProps {
  experiment: string;
  batches: ListedBatch[];
}

/** The batches of an experiment, one cell each, by their worst outcome. */
export function Strip({ experiment, batches, total }: StripProps & { total: number }) {
  const each = batchesOfCell(batches);
  const restarts = restartsOf(batches);
  return (
    <Card
      class="strip-card"
      label="Batches by outcome"
      title="Batches"
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
      <Cells experiment={experiment} batches={batches} />
      {restarts.length > 0 && (
        <p class="card-body muted small">Restarts: {restarts.map(restartInWords).join('; ')}.</p>
      )}
    </Card>
  );
}

/** The optimizer steps of an experiment: a strip for each stage. Nothing if it has none. */
export function StageStrips({ experiment, batches }: StripProps) {
  const steps = batches.filter(({ verification }) => verification?.stages !== undefined);
  if (steps.length === 0) return null;
  return (
    <Card
      class="strip-card"
      label="Optimizer steps by stage"
      title="Stages of optimizer steps"
      note={`${counted(steps.length, 'step')}; a cell opens its step`}
    >
      <dl class="stage-strips">
        {stagesOf(steps).map((stage) => (
          <div key={stage}>
            <dt title={STAGES[stage as StageName]}>{stage}</dt>
            <dd>
              <Cells experiment={experiment} batches={steps} stage={stage} />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Cells({ experiment, batches, stage }: StripProps & { stage?: string }) {
  const cells = cellsOf(batches, stage);
  const restarts = new Map(restartsOf(batches).map((one) => [one.attempt, one]));
  let shown = cells[0]?.first.attempt;
  return (
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
  );
}
