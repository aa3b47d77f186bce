import { type Counts, inWords, partsOf, SHAPES, type Shown } from '../models/outcomes.ts';
import { ago, clock, count } from '../models/words.ts';

/** The outcome of a row by shape, colour and word. */
export function Outcome({ outcome, word = true }: { outcome: Shown; word?: boolean }) {
  return (
    <span class={`outcome ${outcome}`} title={outcome}>
      <span aria-hidden="true">{SHAPES[outcome]}</span>{' '}
      {word ? outcome : <span class="hidden">{outcome}</span>}
    </span>
  );
}

/** Rows by outcome, as a bar; the numbers are its text. */
export function OutcomeBar({ counts, rows }: { counts: Counts; rows: number }) {
  const parts = partsOf(counts, rows);
  return (
    <span class="outcome-bar" role="img" aria-label={inWords(counts, rows)} title={inWords(counts, rows)}>
      {parts.map(({ outcome, share }) => (
        <span key={outcome} class={outcome} style={{ flexGrow: Math.max(share, 0.02) }} />
      ))}
    </span>
  );
}

/** The counts that matter: each outcome but `exact` that has rows, or the number of exact rows. */
export function OutcomeCounts({ counts, rows }: { counts: Counts; rows: number }) {
  const parts = partsOf(counts, rows);
  if (parts.length === 0) return <span class="muted">no rows yet</span>;
  return (
    <span class="outcome-counts">
      {parts.map(({ outcome, rows: n }) => (
        <span key={outcome} class={`outcome ${outcome}`} title={outcome}>
          <span aria-hidden="true">{SHAPES[outcome]}</span>
          <span class="hidden">{outcome} </span>
          {count(n)}
        </span>
      ))}
    </span>
  );
}

/** The state of an experiment, a sweep or a command. */
export function State({ state }: { state: string }) {
  return (
    <span class={`badge s-${state}`}>
      <span class="dot" aria-hidden="true" />
      {state}
    </span>
  );
}

/** A time relative to now, with the exact time as its title. */
export function Ago({ at, now = Date.now() }: { at: number | null; now?: number }) {
  if (at === null) return <span class="muted">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {ago(at, now)}
    </time>
  );
}

/** A time of the day. */
export function Clock({ at }: { at: number | null }) {
  if (at === null) return <span class="muted">unknown</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {clock(at, Date.now())}
    </time>
  );
}

/** A name or number with its explanation below, as in a list of facts. */
export function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
