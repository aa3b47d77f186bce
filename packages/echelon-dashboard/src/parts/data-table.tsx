import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';

/** A column: its title, and what it shows of each row. */
export interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  /**
   * How its cells look: `number`, `mono`, `muted`, `wrap`. In a narrow window `wide` (and sooner `wider`) is hidden, and `line`
   * has a line of its own.
   */
  class?: string;
  /** Its share of the width, in a table with a `view`. */
  width?: string;
  /** The title is only read aloud. */
  isSilent?: boolean;
}

/** Makes a table long: only the rows in view are in the document. All have the same height, in pixels. */
interface View {
  label: string;
  height: number;
  /** Called when the last rows come into view. */
  onEnd?: () => void;
}

interface DataTableProps<T> {
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string | number;
  class?: string;
  /** The row that the screen is about. */
  isCurrent?: (row: T) => boolean;
  /** A click on a row, beside its links. */
  onPick?: (row: T) => void;
  /** A line above a row, over all columns. */
  above?: (row: T) => ComponentChildren;
  /** In a narrow window each row is a grid of these columns. */
  fold?: string;
  view?: View;
}

/** Every table of the screens. */
export function DataTable<T>({ view, ...table }: DataTableProps<T>) {
  if (view !== undefined) return <LongTable {...table} view={view} />;
  return (
    <div class="scroll">
      <table {...look(table)}>
        <Head columns={table.columns} />
        <tbody>
          {table.rows.map((row) => (
            <Row key={table.keyOf(row)} {...{ row, table }} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const look = ({ class: own = '', fold }: Pick<DataTableProps<never>, 'class' | 'fold'>) => ({
  class: `data ${own} ${fold === undefined ? '' : 'folds'}`,
  style: { '--fold': fold },
});

function LongTable<T>({ view, ...table }: DataTableProps<T> & { view: View }) {
  const { rows, columns } = table;
  const { box, shown, height } = useRowsInView(rows.length, view);
  const [first, last] = [shown[0], shown.at(-1)];
  const { class: own, style } = look(table);
  return (
    <div class="card view" ref={box} tabIndex={0}>
      <table class={`${own} long`} style={style} aria-label={view.label} aria-rowcount={rows.length + 1}>
        <colgroup>
          {columns.map(({ class: name, width }, at) => (
            <col key={at} class={name} style={{ width }} />
          ))}
        </colgroup>
        <Head columns={columns} />
        <tbody>
          <tr class="space" style={{ height: `${first?.start ?? 0}px` }} />
          {shown.map(({ index }) => (
            <Row key={index} row={rows[index]!} {...{ table, at: index, height: view.height }} />
          ))}
          <tr class="space" style={{ height: `${height - (last?.end ?? 0)}px` }} />
        </tbody>
      </table>
    </div>
  );
}

function useRowsInView(count: number, { height, onEnd }: View) {
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
  const shown = list.current.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= count - 1 && count > 0) onEnd?.();
  }, [last, count]);
  return { box, shown, height: list.current.getTotalSize() };
}

function Head<T>({ columns }: Pick<DataTableProps<T>, 'columns'>) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, class: name, isSilent }, at) => (
          <th key={at} scope="col" class={name}>
            {isSilent ? <span class="hidden">{title}</span> : title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface RowProps<T> {
  row: T;
  table: DataTableProps<T>;
  /** Its position in a long table. */
  at?: number;
  height?: number;
}

function Row<T>({ row, table, at, height }: RowProps<T>) {
  const { columns, isCurrent, onPick, above } = table;
  const line = above?.(row);
  const pick = (event: MouseEvent) => {
    if (onPick === undefined || (event.target as Element).closest('a')) return;
    const link = (event.currentTarget as Element).querySelector('a');
    // As on a link: in another tab.
    const elsewhere = event.ctrlKey || event.metaKey || event.button === 1;
    if (link && elsewhere) open(link.href, '_blank', 'noopener');
    else if (event.button === 0) onPick(row);
  };
  return (
    <Fragment>
      {line && (
        <tr class="above">
          <th scope="colgroup" colSpan={columns.length}>
            {line}
          </th>
        </tr>
      )}
      <tr
        class={onPick && 'pick'}
        style={height === undefined ? undefined : { height: `${height}px` }}
        aria-rowindex={at === undefined ? undefined : at + 2}
        aria-current={isCurrent?.(row) ? 'true' : undefined}
        onClick={pick}
        onAuxClick={pick}
      >
        {columns.map(({ class: name, cell }, column) => (
          <td key={column} class={name}>
            {cell(row)}
          </td>
        ))}
      </tr>
    </Fragment>
  );
}
