import { type Considered, statusOf } from 'echelon-client/status';
import type { ComponentChildren } from 'preact';
import { now } from '../app/server-clock.ts';
import { isOver, progressOf } from '../models/experiments.ts';
import { type Counts, inWords, partsOf, SHAPES, type Shown } from '../models/outcomes.ts';
import { ago, clock, count, inert } from '../models/words.ts';

/** The outcome of a row by shape, colour and word. */
export function Outcome({ outcome }: { outcome: Shown }) {
  return (
    <span class={`outcome ${outcome}`} title={outcome}>
      <span aria-hidden="true">{SHAPES[outcome]}</span> {outcome}
    </span>
  );
}

/** Rows by outcome, as a bar; the numbers are its text. */
function OutcomeBar({ counts, rows }: { counts: Counts; rows: number }) {
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
    <span class="outcome-counts small">
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

/** The bar and the counts. */
export function Outcomes(of: { counts: Counts; rows: number }) {
  return (
    <>
      <OutcomeBar {...of} />
      <OutcomeCounts {...of} />
    </>
  );
}

/** The state of a sweep or a cluster. */
export function State({ state, word = state }: { state: string; word?: string | undefined }) {
  return (
    <span class={`badge s-${state}`}>
      <span class="dot" aria-hidden="true" />
      {word}
    </span>
  );
}

/** The state of an experiment and its training signal: a wrong signal is red, whatever the state. */
export function Status({ of }: { of: Considered }) {
  const { text, tone } = statusOf(of);
  return <State state={tone === 'state' ? of.state : `signal-${tone}`} word={text} />;
}

/** The characters at the end of a name that stay when there is no room: they tell seeds and values apart. */
const END = 14;

/** A name that loses its middle, not its end, if there is no room. */
export function MiddleClip({ text }: { text: string }) {
  const shown = inert(text);
  if (shown.length <= 2 * END) return <>{shown}</>;
  return (
    <span class="middle-clip">
      <span class="clip">{shown.slice(0, -END)}</span>
      <span>{shown.slice(-END)}</span>
    </span>
  );
}

/** The progress in words; while the experiment is not over, as a bar too. */
export function Progress({ of }: { of: Parameters<typeof progressOf>[0] }) {
  const { text, share } = progressOf(of);
  return (
    <>
      <div>{text}</div>
      {!isOver(of) && share !== undefined && <progress value={share} max={1} aria-label="Progress" />}
    </>
  );
}

/** What is said beside the point. */
export function Muted({ children }: { children: ComponentChildren }) {
  return <span class="muted">{children}</span>;
}

interface TimeProps {
  at: number | null;
  /** The words for null. */
  never?: string;
}

/** A time relative to now, with the exact time as its title. */
export const Ago = ({ at, never = '–' }: TimeProps) => <Time {...{ at, never }} say={ago} />;

/** A time of the day. */
export const Clock = ({ at, never = 'unknown' }: TimeProps) => <Time {...{ at, never }} say={clock} />;

function Time({ at, never, say }: Required<TimeProps> & { say: (at: number, now: number) => string }) {
  if (at === null) return <Muted>{never}</Muted>;
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {say(at, now())}
    </time>
  );
}

/** Names and values in two columns; the class of a value is its outcome. */
export function Pairs({ of }: { of: readonly (readonly [name: string, value: string, outcome?: string])[] }) {
  return (
    <dl class="pairs">
      {of.map(([name, value, outcome]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={`mono ${outcome ?? ''}`}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A name or number with its explanation below, as in a list of facts. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
