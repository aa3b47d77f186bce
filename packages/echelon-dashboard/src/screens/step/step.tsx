import { counted } from 'command-kit/plural';
import type { TokenExplanation } from 'echelon-verify/explain';
import { formatToken } from 'echelon-verify/explain';
import { STAGES, type StageReport, type StepReport } from 'echelon-verify/report';
import type { TokenColumns } from 'echelon-verify/verify';
import { useResource } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import { count, inert, inertText } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Command } from '../../parts/head.tsx';
import { Outcomes } from '../../parts/marks.tsx';
import { Await } from '../../parts/states.tsx';

/** What answers questions on the tokens of a step: the API, or the verifier of the page. */
export interface StepSource {
  tokens(row: number, signal: AbortSignal): Promise<TokenColumns>;
  explain(row: number, position: number, signal: AbortSignal): Promise<TokenExplanation>;
  /** The command that prints the same explanation. */
  command(row: number, position: number): string;
}

interface StepProps {
  report: StepReport;
  source: StepSource;
}

/** An optimizer step: a strip per stage, the layout of its micro-batches, and the tokens of a row. */
export function Step({ report, source }: StepProps) {
  const { query } = place.value;
  const [first] = report.wrongRows;
  const row = Number(query.get('row') ?? first ?? 0);
  const tokens = useResource((signal) => source.tokens(row, signal), [report.name, row]);
  return (
    <>
      <Stages report={report} />
      <Await of={tokens}>
        {(columns) => (
          <>
            <Layout tokens={columns} />
            <Row tokens={columns} {...{ report, source }} />
          </>
        )}
      </Await>
    </>
  );
}

function Stages({ report }: { report: StepReport }) {
  const totalOf = ({ exact, rounding, wrong, unverifiable }: StageReport) =>
    exact + rounding + wrong + unverifiable;
  return (
    <Card title="Stages" note={counted(report.trained, 'trained token')}>
      <DataTable
        rows={report.stages}
        keyOf={({ stage }) => stage}
        columns={[
          {
            title: 'Stage',
            class: 'wrap',
            cell: ({ stage }) => (
              <>
                {stage}
                <div class="muted small">{STAGES[stage]}</div>
              </>
            ),
          },
          {
            title: 'Outcomes',
            class: 'outcomes-cell',
            cell: (stage) => <Outcomes counts={stage} rows={totalOf(stage)} />,
          },
          { title: 'Of', cell: ({ of }) => of },
          { title: 'Needs', cell: ({ lacks }) => lacks.map(inert).join(', ') },
        ]}
      />
    </Card>
  );
}

/** Ranks as lines and their micro-batches as boxes, as wide as they have tokens. */
function Layout({ tokens }: { tokens: TokenColumns }) {
  const ranks = Map.groupBy(tokens.microBatches.entries(), ([, { rank }]) => rank);
  return (
    <Card title="Micro-batches" note={counted(ranks.size, 'rank')}>
      <ol class="step-layout" aria-label="Ranks">
        {[...ranks].map(([rank, own]) => (
          <li key={rank}>
            <span class="muted">rank {rank}</span>
            {own.map(([at, one]) => (
              <span
                key={at}
                class={`micro-batch ${at === tokens.microBatch ? 'chosen' : ''}`}
                style={{ flexGrow: Math.max(1, one.tokens) }}
                title={`micro-batch ${one.index}, pass ${one.pass}: ${counted(one.rows, 'row')}, ${counted(one.tokens, 'token')}`}
              >
                {count(one.tokens)}
              </span>
            ))}
          </li>
        ))}
      </ol>
      <p class="muted small">
        The width and the number of a box are its tokens. The marked box holds row {tokens.row}.
      </p>
    </Card>
  );
}

function Row({ tokens, report, source }: StepProps & { tokens: TokenColumns }) {
  const { row, rows, trajectory, outcome, breaks } = tokens;
  const asked = place.value.query.get('position');
  const firstWrong = Math.max(0, outcome.indexOf('wrong'));
  const position = asked === null ? firstWrong : Number(asked);
  const go = (to: number) => setQuery({ row: String(to), position: undefined });
  const next = report.wrongRows.find((one) => one > row);
  return (
    <Card
      title={`Row ${row}${trajectory === null ? '' : `, ${inert(trajectory)}`}`}
      note={`${counted(tokens.tokens, 'token')}, micro-batch ${tokens.microBatch}`}
      end={
        <>
          <button type="button" disabled={row === 0} onClick={() => go(row - 1)}>
            Previous row
          </button>
          <button type="button" disabled={row + 1 >= rows} onClick={() => go(row + 1)}>
            Next row
          </button>
          {next !== undefined && (
            <button type="button" onClick={() => go(next)}>
              Next wrong row
            </button>
          )}
        </>
      }
    >
      <div class="step-row">
        <ol class="step-tokens" aria-label="Tokens">
          {outcome.map((one, at) => (
            <li key={at}>
              <button
                type="button"
                class={`token ${one} ${tokens.trained[at] ? '' : 'untrained'}`}
                aria-pressed={at === position}
                title={`token ${at}: ${one}${breaks[at] === null ? '' : `, broken at the stage ${breaks[at]}`}`}
                onClick={() => setQuery({ row: String(row), position: String(at) })}
              >
                {inertText(textOf(tokens, at))}
              </button>
            </li>
          ))}
        </ol>
        <Chain key={position} {...{ report, source, row, position }} />
      </div>
    </Card>
  );
}

function textOf({ text, id }: TokenColumns, at: number): string {
  return text?.[at] ?? String(id?.[at] ?? at);
}

/** The chain of a token from its log-prob to its gradient coefficient. */
function Chain({ report, source, row, position }: StepProps & { row: number; position: number }) {
  const chain = useResource((signal) => source.explain(row, position, signal), [report.name, row, position]);
  return (
    <div class="step-chain">
      <Command text={source.command(row, position)} />
      <Await of={chain}>
        {(explanation) => (
          <section aria-label={`Chain of token ${position}`}>
            <pre class="mono" tabIndex={0}>
              {formatToken(explanation)}
            </pre>
          </section>
        )}
      </Await>
    </div>
  );
}
