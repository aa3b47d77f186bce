import { spansOf } from 'command-kit/colors';
import type { LogPage } from 'echelon-client/calls';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { classesOf } from '../../models/log-colors.ts';
import { LINE_HEIGHT, topOf, windowOf } from '../../models/log-lines.ts';

export type Line = LogPage['lines'][number];

interface ReaderProps {
  total: number;
  /** A line by its position from 0; undefined: not loaded. */
  lineAt: (at: number) => Line | undefined;
  /** Called with the positions in view. */
  want: (first: number, last: number) => void;
  /** The position to show and to mark. */
  asked?: number | undefined;
  /** Whether the end is shown first, and stays in view when lines are added. */
  isFollowing?: boolean;
  /** Whether long lines take several rows. */
  isWrapped: boolean;
  note: string;
  /** Present states of progress bars. */
  states?: LogPage['progress'] | undefined;
}

/** Lines of which only those in view are in the document. */
export function Reader({
  total,
  lineAt,
  want,
  asked,
  isFollowing = false,
  isWrapped,
  note,
  states = [],
}: ReaderProps) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(isFollowing);
  const [scroll, setScroll] = useState({ top: 0, view: 0 });
  const { height, first, last, offset } = windowOf(total, scroll);
  const isLast = last === total - 1;
  const look = () => {
    if (box.current === null) return;
    const { scrollTop: top, clientHeight: view, scrollHeight } = box.current;
    isAtEnd.current = isFollowing && scrollHeight - top - view < 2 * LINE_HEIGHT;
    setScroll({ top, view });
  };
  useLayoutEffect(() => {
    const element = box.current!;
    if (asked !== undefined) {
      const isInView = asked > first && asked < last && element.querySelector('.asked') !== null;
      if (!isInView) element.scrollTop = topOf(total, { line: asked, view: element.clientHeight });
    } else if (isFollowing) element.scrollTop = element.scrollHeight;
    look();
  }, [asked, isFollowing]);
  useLayoutEffect(() => {
    if (isAtEnd.current) box.current!.scrollTop = box.current!.scrollHeight;
    look();
  }, [total]);
  useEffect(() => {
    const resized = new ResizeObserver(look);
    resized.observe(box.current!);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    if (scroll.view > 0) want(first, last);
  }, [first, last, total, scroll.view > 0]);
  const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return (
    <section class={`card log ${isWrapped ? 'wrapped' : ''}`} aria-label="Lines">
      <div class="card-head">
        <span class="muted" role="status">
          {note}
        </span>
      </div>
      <div class="lines" ref={box} tabIndex={0} role="log" aria-live="off" onScroll={look}>
        <div class="space" style={{ height: `${height}px` }}>
          <div
            class={`shown${isLast ? ' last' : ''}`}
            style={{ transform: isLast && isWrapped ? undefined : `translateY(${offset}px)` }}
          >
            {shown.map((at) => (
              <OneLine key={at} line={lineAt(at)} at={at} isAsked={at === asked} />
            ))}
          </div>
        </div>
      </div>
      {states.map(({ source, text }) => (
        <p key={source} class={`state ${source}`} title={`Line of ${source} that changes`}>
          <Text text={text} />
        </p>
      ))}
    </section>
  );
}

function OneLine({ line, at, isAsked }: { line: Line | undefined; at: number; isAsked: boolean }) {
  if (line === undefined) {
    return (
      <p class={isAsked ? 'asked' : ''}>
        <span class="line">{at + 1}</span>
        <span class="text muted">…</span>
      </p>
    );
  }
  return (
    <p class={`${line.source}${isAsked ? ' asked' : ''}`}>
      <a class="line" href={`?tab=logs&line=${line.line}`} aria-label={`Line ${line.line}`}>
        {line.line}
      </a>
      <Text text={line.source === 'gap' ? `— ${line.text} —` : line.text} />
    </p>
  );
}

/** Foreign text in its colours. */
function Text({ text }: { text: string }) {
  return (
    <span class="text">
      {spansOf(text).map(({ text, style }, at) => {
        const classes = classesOf(style);
        return classes === '' ? (
          text
        ) : (
          <span key={at} class={classes}>
            {text}
          </span>
        );
      })}
    </span>
  );
}
