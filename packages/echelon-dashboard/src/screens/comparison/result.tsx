import { counted } from 'command-kit/plural';
import { Curve } from '../../charts/curve.tsx';
import {
  type ComparisonDetail,
  type ComparisonSeries,
  points,
  seedRows,
  signedPoints,
} from '../../models/comparison.ts';
import { bandsOf } from '../../models/curves.ts';
import { count, inert, percent } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Fact, State } from '../../parts/marks.tsx';
import { Empty } from '../../parts/states.tsx';
import { Differences } from './differences.tsx';

interface ResultProps {
  comparison: ComparisonDetail;
  /** Undefined while it loads. */
  series: ComparisonSeries | undefined;
  /** Whether there are screens of the experiments to link to. */
  isLinked: boolean;
}

/** All of a comparison below its head: what its reader has to know first, then the sentence, then what it is made from. */
export function Result({ comparison, series, isLinked }: ResultProps) {
  const { results, plan, differing } = comparison;
  return (
    <>
      <Sentences comparison={comparison} />
      <Plan comparison={comparison} />
      <div class="stack">
        {results.map((result) => (
          <Differences key={result.method} {...{ result, plan }} />
        ))}
        <Seeds comparison={comparison} />
        {differing.length > 0 && <Games comparison={comparison} />}
        <Runs comparison={comparison} isLinked={isLinked} />
        <Card class="over-steps" title="Curves" note="context, not part of the comparison">
          {series?.items.some((one) => one.points.length > 0) ? (
            <Curve
              data={bandsOf(series.items, methodOf(comparison, series))}
              strip={[]}
              label={`${series.metric} over steps of ${counted(series.items.length, 'method')}, not part of the comparison`}
            />
          ) : (
            <Empty title="No values over steps" />
          )}
        </Card>
      </div>
    </>
  );
}

/** Curves come in the order of the first child of each method, which is that of the plan. */
function methodOf({ plan }: ComparisonDetail, { items }: ComparisonSeries) {
  return (values: object) => plan.methods[items.findIndex((one) => one.values === values)]?.name ?? 'method';
}

function Sentences({ comparison }: { comparison: ComparisonDetail }) {
  const { findings, refusals, results, plan, look, runs } = comparison;
  // The findings begin with those on wrong signals.
  const wrong = findings.slice(0, runs.filter(({ signal }) => signal === 'wrong').length);
  return (
    <div role="status">
      {wrong.map((text) => (
        <p key={text} class="banner bad">
          {inert(text)}
        </p>
      ))}
      {refusals.length > 0 && (
        <div class="banner warn">
          There is no paired table:
          <ul>
            {refusals.map((text) => (
              <li key={text}>{inert(text)}</li>
            ))}
          </ul>
        </div>
      )}
      {results.map(({ method, sentence, outcome }) => (
        <p key={method} class={`banner sentence ${outcome === 'not-decided' ? 'warn' : ''}`}>
          {inert(sentence)}. <span class="muted">Against {inert(plan.baseline)}</span>
        </p>
      ))}
      {results.length === 0 && refusals.length === 0 && (
        <p class="banner">
          No result yet: {look.complete} of {counted(plan.seeds.length, 'seed')} are complete.
        </p>
      )}
      {findings.slice(wrong.length).map((text) => (
        <p key={text} class="muted reason-line">
          {inert(text)}
        </p>
      ))}
    </div>
  );
}

const time = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

function Plan({ comparison: { plan, figures, createdAt, startedAt } }: { comparison: ComparisonDetail }) {
  return (
    <dl class="facts">
      <Fact name="Planned (UTC)">{time(createdAt)}</Fact>
      <Fact name="First run (UTC)">{startedAt === null ? 'not started' : time(startedAt)}</Fact>
      <Fact name="Panel">{inert(plan.panel)}</Fact>
      <Fact name="Step">{count(plan.step)}</Fact>
      <Fact name="Replicates">{plan.replicates}</Fact>
      <Fact name="Margin">{plan.margin} points</Fact>
      <Fact name="Assumed deviation">{plan.deviation} points</Fact>
      <Fact name="Seeds">
        {plan.seeds.length} planned, {figures.seedsNeeded ?? 'over 1,000'} needed for the margin
      </Fact>
    </dl>
  );
}

function Seeds({ comparison }: { comparison: ComparisonDetail }) {
  const { plan } = comparison;
  return (
    <Card title="Seeds" note="success in percent, and the difference to the baseline">
      <DataTable
        rows={seedRows(comparison)}
        keyOf={({ seed }) => seed}
        columns={[
          { title: 'Seed', cell: ({ seed }) => seed, value: ({ seed }) => seed },
          ...plan.methods.map(({ name }, at) => ({
            title: inert(name),
            class: 'number',
            cell: ({ runs, differences }: ReturnType<typeof seedRows>[number]) => {
              const run = runs[at];
              if (run === undefined || run.success === null) return run?.state ?? 'not created';
              const difference = differences[at] ?? null;
              return (
                <>
                  {points(run.success)}{' '}
                  {difference !== null && <span class="muted">{signedPoints(difference)}</span>}
                </>
              );
            },
            value: ({ runs }: ReturnType<typeof seedRows>[number]) => runs[at]?.success,
          })),
        ]}
      />
    </Card>
  );
}

function Games({ comparison: { differing, plan } }: { comparison: ComparisonDetail }) {
  return (
    <Card title="Games where the methods differ most" note="success in percent over seeds and replicates">
      <div class="tall" tabIndex={0} role="region" aria-label="Games">
        <DataTable
          rows={differing}
          keyOf={({ game }) => game}
          columns={[
            { title: 'Game', class: 'mono wrap', cell: ({ game }) => inert(game), value: ({ game }) => game },
            ...plan.methods.map(({ name }, at) => ({
              title: inert(name),
              class: 'number',
              cell: ({ success }: ComparisonDetail['differing'][number]) => points(success[at]!),
              value: ({ success }: ComparisonDetail['differing'][number]) => success[at],
            })),
          ]}
        />
      </div>
    </Card>
  );
}

function Runs({ comparison: { runs }, isLinked }: Pick<ResultProps, 'comparison' | 'isLinked'>) {
  return (
    <Card title="Runs" note="how many of the rows of each are verified">
      <DataTable
        rows={runs}
        keyOf={({ experiment }) => experiment}
        columns={[
          {
            title: 'Run',
            cell: ({ method, seed, experiment, state }) => {
              const name = `${inert(method)}, seed ${seed}`;
              return isLinked && state !== null ? <a href={`/experiments/${experiment}`}>{name}</a> : name;
            },
            value: ({ method, seed }) => `${method} ${String(seed).padStart(10, '0')}`,
          },
          {
            title: 'State',
            cell: ({ state, isCounted }) => (
              <>
                {state === null ? 'not created' : <State state={state} />}
                {isCounted && <div class="muted">each game counts with success 0</div>}
              </>
            ),
            value: ({ state }) => state,
          },
          {
            title: 'Verified rows',
            class: 'number',
            cell: ({ rowsVerified, rowsSeen }) => (
              <>
                {percent(rowsVerified, rowsSeen)}{' '}
                <span class="muted">
                  {count(rowsVerified)} of {count(rowsSeen)}
                </span>
              </>
            ),
            value: ({ rowsVerified, rowsSeen }) => (rowsSeen === 0 ? null : rowsVerified / rowsSeen),
          },
          {
            title: 'Wrong',
            class: 'number',
            cell: ({ wrong }) => (wrong > 0 ? <span class="outcome wrong">✕ {count(wrong)}</span> : 0),
            value: ({ wrong }) => wrong,
          },
        ]}
      />
    </Card>
  );
}
