import type { BatchRows } from 'echelon-client/calls';
import { useEffect, useRef } from 'preact/hooks';
import { useGet } from '../app/resource.ts';
import { navigate, place, setQuery } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { OUTCOMES } from '../models/outcomes.ts';
import {
  aboveOf,
  type BatchPath,
  batchHref,
  batchPathOf,
  sameStateHref,
  trajectoryHref,
} from '../models/paths.ts';
import { isDigestsOnly, type Step, scaleOf, siblingsOf, stepsOf } from '../models/trajectory.ts';
import { count, exactly, inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { useKeys } from '../parts/keys.ts';
import { Fact, Outcome, OutcomeCounts, Pairs } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';
import { Signed } from './batch/rows.tsx';
import { LongText, TextsNote } from './batch/text.tsx';

/** What the agent did step by step, and the advantage that each step got. */
export function Trajectory({ params }: { params: Record<string, string> }) {
  const path = batchPathOf(params);
  const name = place.value.query.get('name') ?? '';
  const rows = useGet('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', {
    path,
    query: { trajectory: name },
  });
  const siblings = useSiblings(path, name);
  const at = siblings.indexOf(name);
  const href = (by: number) => {
    const other = at < 0 ? undefined : siblings[at + by];
    return other === undefined ? undefined : trajectoryHref(path, other, chosenStep());
  };
  const [before, after] = [href(-1), href(1)];
  useKeys({
    '[': before ? () => navigate(before, { replace: true }) : undefined,
    ']': after ? () => navigate(after, { replace: true }) : undefined,
  });
  return (
    <>
      <Head
        title={`Trajectory ${inert(name)}`}
        path={aboveOf(path)}
        command={command(`batches ${path.id} ${path.attempt} ${path.batch}`, { trajectory: name })}
        actions={
          <>
            {before && (
              <a class="button" href={before} title="Key [">
                Previous in the group
              </a>
            )}
            {after && (
              <a class="button" href={after} title="Key ]">
                Next in the group
              </a>
            )}
          </>
        }
      />
      <Await of={rows}>
        {(columns) =>
          columns.row.length === 0 ? (
            <Empty title="The batch has no trajectory of this name">
              <p>
                <a href={batchHref(path)}>Show the rows of the batch</a>
              </p>
            </Empty>
          ) : (
            <Read path={path} rows={columns} sibling={at < 0 ? '' : `${at + 1} of ${siblings.length}`} />
          )
        }
      </Await>
    </>
  );
}

/** The step in the address. */
function chosenStep(): number | undefined {
  const asked = place.value.query.get('step');
  return asked === null ? undefined : Number(asked);
}

/** The trajectories of the group among the first rows of the batch; empty until they are known. */
function useSiblings(path: BatchPath, name: string): string[] {
  const { data } = useGet('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', { path });
  return data === undefined ? [] : siblingsOf(data, name);
}

function Read({ path, rows, sibling }: { path: BatchPath; rows: BatchRows; sibling: string }) {
  const steps = stepsOf(rows).sort((a, b) => a.step - b.step);
  const chosen = steps.findIndex(({ step }) => step === chosenStep());
  const choose = (at: number) => {
    const next = steps[Math.max(0, Math.min(steps.length - 1, at))]!;
    setQuery({ step: String(next.step) });
  };
  useKeys({ j: () => choose(chosen + 1), k: () => choose(Math.max(0, chosen - 1)) });
  const scale = scaleOf(steps);
  const digests = isDigestsOnly(rows);
  return (
    <>
      <About rows={rows} sibling={sibling} />
      <TextsNote rows={rows} />
      <Overview steps={steps} scale={scale} chosen={chosen} />
      <p class="muted hint small">
        <kbd>j</kbd> <kbd>k</kbd> next and previous step · <kbd>[</kbd> <kbd>]</kbd> trajectories of the group
      </p>
      <ol class="steps">
        {steps.map((step, at) => (
          <StepEntry
            key={step.row}
            {...{ path, step, scale, digests }}
            isChosen={at === chosen}
            onChoose={() => choose(at)}
          />
        ))}
      </ol>
    </>
  );
}

function About({ rows, sibling }: { rows: BatchRows; sibling: string }) {
  const of = (outcome: string) => rows.outcome.filter((one) => one === outcome).length;
  const counts = Object.fromEntries(OUTCOMES.map((one) => [one, of(one)])) as Record<
    (typeof OUTCOMES)[number],
    number
  >;
  return (
    <dl class="facts">
      <Fact name="Group">
        <span class="mono">{inert(rows.groups[0]!)}</span>
        {sibling && <span class="muted"> · {sibling}</span>}
      </Fact>
      <Fact name="Steps">
        {rows.row.length < rows.matching
          ? `${count(rows.row.length)} of ${count(rows.matching)}`
          : count(rows.matching)}
      </Fact>
      <Fact name="Score of the last step">{exactly(rows.score.at(-1))}</Fact>
      <Fact name="Outcomes">
        <OutcomeCounts counts={counts} rows={rows.row.length} />
      </Fact>
    </dl>
  );
}

/** Width of a step in the overview, in its own units. */
const STEP = 10;

/** The advantages of all steps at a glance; the steps below say the same in numbers. */
function Overview({ steps, scale, chosen }: { steps: Step[]; scale: number; chosen: number }) {
  return (
    <section class="card trajectory-overview" aria-label="Reported advantage of each step">
      <svg
        viewBox={`0 0 ${steps.length * STEP} 60`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Reported advantages of ${steps.length} steps, up to ${exactly(scale)} in size`}
      >
        <line class="axis" x1="0" x2={steps.length * STEP} y1="30" y2="30" />
        {steps.map(({ row, step, reported, outcome }, at) => {
          const high = (Math.abs(reported ?? 0) / scale) * 28;
          return (
            <g
              key={row}
              class={at === chosen ? 'chosen' : ''}
              onClick={() => setQuery({ step: String(step) })}
            >
              <title>{`step ${step}: ${exactly(reported)}, ${outcome}`}</title>
              <rect class="place" x={at * STEP} width={STEP} y="0" height="60" />
              <rect
                class={(reported ?? 0) < 0 ? 'negative' : 'positive'}
                x={at * STEP + 1}
                width={STEP - 2}
                y={(reported ?? 0) < 0 ? 30 : 30 - high}
                height={Math.max(0.5, high)}
              />
              {outcome === 'wrong' && <rect class="wrong" x={at * STEP} width={STEP} y="56" height="4" />}
            </g>
          );
        })}
      </svg>
    </section>
  );
}

interface StepProps {
  path: BatchPath;
  step: Step;
  scale: number;
  digests: boolean;
  isChosen: boolean;
  onChoose: () => void;
}

function StepEntry({ path, step, scale, digests, isChosen, onChoose }: StepProps) {
  const entry = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) entry.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <li ref={entry} class="step" aria-current={isChosen ? 'step' : undefined}>
      <button type="button" class="number" aria-label={`Step ${step.step}`} onClick={onChoose}>
        {step.step}
      </button>
      <div class="texts">
        {step.observation !== null && (
          <p class={digests ? 'mono muted' : 'seen'}>
            <LongText text={step.observation} />
          </p>
        )}
        <p class="action">
          {step.action === null ? (
            <span class="muted">no text of the action</span>
          ) : (
            <LongText text={step.action} />
          )}
        </p>
      </div>
      <Paid step={step} scale={scale} />
      <p class="links small">
        <a href={batchHref(path, step.row)}>Row {step.row}</a>
        {step.observation !== null && <a href={sameStateHref(path, step.row)}>Same state</a>}
      </p>
    </li>
  );
}

/** What a step got: its return, its advantage and the outcome of that. */
function Paid({ step, scale }: { step: Step; scale: number }) {
  return (
    <div class="paid small">
      <Pairs
        of={[
          ['return', exactly(step.stepReturn)],
          ['reported', exactly(step.reported), step.outcome],
          ...(step.outcome === 'exact' ? [] : [['true', exactly(step.true)] as const]),
        ]}
      />
      <p>
        <Outcome outcome={step.outcome} />
        <Signed value={step.reported} scale={scale} />
      </p>
    </div>
  );
}
