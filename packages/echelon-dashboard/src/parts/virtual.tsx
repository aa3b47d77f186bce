import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';

interface VirtualListProps {
  count: number;
  /** Height of a row in pixels; all are the same. */
  height: number;
  row: (index: number) => ComponentChildren;
  /** Called when the last rows come into view. */
  onEnd?: () => void;
  label: string;
  /** Stands above the rows and does not scroll. */
  head?: ComponentChildren;
}

/** A list of which only the rows in view are in the document. */
export function VirtualList({ count, height, row, onEnd, label, head }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const options = {
    count,
    estimateSize: () => height,
    getScrollElement: () => box.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    overscan: 8,
    onChange: () => redraw(0),
  };
  const list = useRef<Virtualizer<HTMLDivElement, Element>>(undefined);
  list.current ??= new Virtualizer<HTMLDivElement, Element>(options);
  list.current.setOptions({ ...list.current.options, ...options });
  useLayoutEffect(() => list.current!._didMount(), []);
  useLayoutEffect(() => list.current!._willUpdate());
  useLayoutEffect(() => list.current!.measure(), [height]);
  const items = list.current.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= count - 1 && count > 0) onEnd?.();
  }, [last, count]);
  return (
    <div class="table" role="table" aria-label={label} aria-rowcount={count + 1}>
      {head}
      <div class="rows" ref={box} role="rowgroup" tabIndex={0}>
        <div class="space" role="presentation" style={{ height: `${list.current.getTotalSize()}px` }}>
          {items.map(({ index, start }) => (
            <div
              key={index}
              role="presentation"
              class="place"
              style={{ transform: `translateY(${start}px)`, height: `${height}px` }}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
