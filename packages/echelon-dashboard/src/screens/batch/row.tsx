import type { RowExplanation } from 'echelon-verify/explain';
import { useEffect, useRef } from 'preact/hooks';
import { useGet } from '../../app/resource.ts';
import { setQuery } from '../../app/router.ts';
import { GoalGraph } from '../../charts/goal-graph.tsx';
import { command } from '../../models/commands.ts';
import { SHAPES } from '../../models/outcomes.ts';
import { type BatchPath, sameStateHref, trajectoryHref } from '../../models/paths.ts';
import { intervalScale } from '../../models/scale.ts';
import { exactly, figure, inert, inertText } from '../../models/words.ts';
import { Command } from '../../parts/head.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Fact, Outcome, Pairs } from '../../parts/marks.tsx';
import { Await } from '../../parts/states.tsx';
import { Contributions, Level } from './levels.tsx';

/** Why a row has its advantage: the reported value against what the stated formula can give, level by level. */
export function RowDrawer({ path, row }: { path: BatchPath; row: number }) {
  const { id, attempt, batch } = path;
  const loaded = useGet('/v1/experiments/{id}/explain', { path: { id }, query: { attempt, batch, row } });
  return (
    <Drawer title={`Row ${row}`} onClose={() => setQuery({ row: undefined })}>
      <Command text={command(`batches ${id} ${attempt} ${batch}`, { row })} />
      <Await of={loaded}>
        {({ explanation }) => {
          const explained = explanation as unknown as RowExplanation;
          return (
            <>
              <p class="line-of-parts">
                <a href={trajectoryHref(path, explained.trajectory, explained.step)}>Read the trajectory</a>
                {explained.observation !== null && (
                  <a href={sameStateHref(path, row)}>What was tried in the same state</a>
                )}
              </p>
              <Explained explanation={explained} />
            </>
          );
        }}
      </Await>
    </Drawer>
  );
}

interface DrawerProps {
  title: string;
  onClose: () => void;
  children: preact.ComponentChildren;
}

/** A panel beside the screen; Escape closes it. */
export function Drawer({ title, onClose, children }: DrawerProps) {
  const latest = useRef(onClose);
  latest.current = onClose;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && latest.current();
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <aside class="drawer" aria-label={title}>
      <div class="drawer-head">
        <h2>{title}</h2>
        <button type="button" class="close" aria-label={`Close ${title}`} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </aside>
  );
}

/** The explanation of a row. */
export function Explained({ explanation: e }: { explanation: RowExplanation }) {
  return (
    <div class="explained">
      <p class={`finding-line ${e.outcome}`}>
        <Outcome outcome={e.outcome} /> <span>{sentence(e)}</span>
      </p>
      <Interval explanation={e} />
      {e.likelyCause && (
        <p class="banner bad">
          <strong>Likely cause:</strong> {inert(e.likelyCause)}.
        </p>
      )}
      <dl class="facts small">
        <Fact name="Group">
          <span class="mono">{inert(e.group)}</span>
        </Fact>
        <Fact name="Trajectory">
          <button
            type="button"
            class="link mono"
            title="Show only the rows of this trajectory"
            onClick={() => setQuery({ trajectory: e.trajectory, group: undefined, outcome: undefined })}
          >
            {inert(e.trajectory)}
          </button>
          <span class="mono">, step {e.step}</span>
        </Fact>
        <Fact name="Return">{exactly(e.stepReturn)}</Fact>
        <Fact name="Score">{exactly(e.score)}</Fact>
      </dl>
      {e.observation !== null && <p class="observation small">{inertText(e.observation)}</p>}
      {e.goal && <GoalGraph graph={e.goal.graph} />}
      {e.levels.length > 0 && <Contributions explanation={e} />}
      {e.levels.map((level) => (
        <Level key={level.level} level={level} explanation={e} />
      ))}
      {e.stages && (
        <ol class="stages">
          {e.stages.map(({ text, value }) => (
            <li key={text}>
              {inert(text)} <strong>{exactly(value)}</strong>
            </li>
          ))}
        </ol>
      )}
      {e.missing.length > 0 && <p class="muted">The batch lacks: {e.missing.join(', ')}.</p>}
      {e.unbounded && <p class="muted">Without error bounds: {inert(e.unbounded)}.</p>}
    </div>
  );
}

function sentence(e: RowExplanation): string {
  const formula = `the stated formula in ${e.precision}`;
  if (e.outcome === 'exact') return `The reported value is what ${formula} gives.`;
  if (e.outcome === 'rounding')
    return `The reported value is possible by ${formula}, but rounding has moved it away from the true value.`;
  if (e.outcome === 'wrong')
    return `No evaluation of ${formula} gives the reported value, in any order of summation.`;
  return 'The batch does not hold what this row needs.';
}

/** The values that the trainer's arithmetic can give, the true one and the reported one, on one scale. */
function Interval({ explanation: e }: { explanation: RowExplanation }) {
  const scale = intervalScale({ interval: e.interval, truth: e.true, reported: e.reported });
  const x = (share: number) => 8 + share * 404;
  return (
    <div class="interval">
      <Pairs
        of={[
          ['reported', exactly(e.reported), e.outcome],
          ['true', exactly(e.true)],
          ...(e.interval
            ? [['possible', `${exactly(e.interval.low)} to ${exactly(e.interval.high)}`] as const]
            : []),
        ]}
      />
      {scale && (
        <svg viewBox="0 0 420 58" role="img" aria-label="Reported value and possible interval, to scale">
          <line class="axis" x1="8" x2="412" y1="30" y2="30" />
          <rect
            class="possible"
            x={x(scale.low)}
            width={Math.max(2, x(scale.high) - x(scale.low))}
            y="20"
            height="20"
            rx="2"
          />
          <line class="truth" x1={x(scale.truth)} x2={x(scale.truth)} y1="14" y2="46" />
          <text x={x(scale.truth)} y="10" text-anchor={anchor(scale.truth)}>
            true
          </text>
          {scale.reported !== null && (
            <>
              <text
                class={`mark ${e.outcome}`}
                x={x(scale.reported)}
                y="35"
                text-anchor="middle"
                font-size="15"
              >
                {SHAPES[e.outcome]}
              </text>
              <text class={e.outcome} x={x(scale.reported)} y="56" text-anchor={anchor(scale.reported)}>
                reported
                {scale.widthsOff > 0 && Number.isFinite(scale.widthsOff)
                  ? `, ${figure(scale.widthsOff, 2)} × the interval's width outside`
                  : ''}
              </text>
            </>
          )}
        </svg>
      )}
    </div>
  );
}

const anchor = (share: number) => (share < 0.25 ? 'start' : share > 0.75 ? 'end' : 'middle');
