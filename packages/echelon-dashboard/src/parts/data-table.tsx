import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** A column: its title, and what it shows of each row. */
export interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  /**
   * How its cells look: `number`, `mono`, `muted`, `wrap`. In a narrow window `wide` (and sooner `wider`) is hidden, and `line`
   * has a line of its own.
   */
  class?: string;
  /** Its width in pixels, in a table with a `view`; the others share the rest. */
  width?: string;
  /** The title is only read aloud. */
  isSilent?: boolean;
  /** The name of its order, in a table with a `sort`. */
  sort?: string;
  /** What its cells are sorted by, in a table that has all rows. Null comes last. */
  value?: (row: T) => string | number | null | undefined;
}

/** An order that the screen keeps: the name of a column, with a leading `-` if the largest value is first. */
interface Sort {
  by: string | undefined;
  choose: (by: string | undefined) => void;
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
  /** Default: columns with a `value` sort the rows that are there. */
  sort?: Sort;
  /** A row that is a heading over all columns. */
  headingOf?: (row: T) => ComponentChildren;
}

/** Every table of the screens. */
export function DataTable<T>({ view, ...given }: DataTableProps<T>) {
  const [by, choose] = useState<string>();
  if (view !== undefined) return <LongTable {...given} view={view} />;
  const columns = given.columns.map((one) => (one.value ? { sort: one.title, ...one } : one));
  const table = {
    ...given,
    columns,
    sort: given.sort ?? { by, choose },
    rows: sorted(given.rows, columns, by),
  };
  return (
    <Scroll>
      <table {...look(table)}>
        <Head {...table} />
        <tbody>
          {table.rows.map((row) => (
            <Row key={table.keyOf(row)} {...{ row, table }} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** A box that scrolls sideways; the keyboard reaches it while it does. */
export function Scroll({ class: own = '', children }: { class?: string; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const { scrollWidth, clientWidth } = box.current!;
    setWide(scrollWidth > clientWidth);
  });
  return (
    <div
      class={`scroll ${own}`}
      ref={box}
      {...(isWide && { tabIndex: 0, role: 'region', 'aria-label': 'Table' })}
    >
      {children}
    </div>
  );
}

function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], by: string | undefined): readonly T[] {
  const sign = by?.startsWith('-') ? -1 : 1;
  const value = columns.find(({ sort }) => by !== undefined && sort === by.replace(/^-/, ''))?.value;
  if (value === undefined) return rows;
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a) ?? null, value(b) ?? null];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left === right ? 0 : left < right ? -sign : sign;
  });
}

const look = ({ class: own = '', fold }: Pick<DataTableProps<never>, 'class' | 'fold'>) => ({
  class: `data ${own} ${fold === undefined ? '' : 'folds'}`,
  style: { '--fold': fold },
});

function LongTable<T>({ view, ...table }: DataTableProps<T> & { view: View }) {
  const { rows, columns } = table;
  const current = table.isCurrent === undefined ? -1 : rows.findIndex(table.isCurrent);
  const { box, shown, height } = useRowsInView(rows.length, view, current);
  const [first, last] = [shown[0], shown.at(-1)];
  const { class: own, style } = look(table);
  const least = columns.reduce((sum, { width = '0' }) => sum + Number.parseInt(width, 10), 0);
  return (
    <div class="card view" ref={box} tabIndex={0}>
      <table
        class={`${own} long`}
        style={{ ...style, '--least': `${least}px` }}
        aria-label={view.label}
        aria-rowcount={rows.length + 1}
      >
        <colgroup>
          {columns.map(({ class: name, width }, at) => (
            <col key={at} class={name} style={{ width }} />
          ))}
        </colgroup>
        <Head {...table} />
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

/** Height of the head of a long table in pixels, as `.long thead th` of parts.css. */
const HEAD_HEIGHT = 30;

/** The rows to draw; the current one is brought into view. */
function useRowsInView(count: number, { height, onEnd }: View, current: number) {
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
    // The head stays above the rows.
    scrollPaddingEnd: HEAD_HEIGHT,
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
  useLayoutEffect(() => {
    if (current >= 0) list.current!.scrollToIndex(current, { align: 'auto' });
  }, [current]);
  useEffect(() => {
    if (last >= count - 1 && count > 0) onEnd?.();
  }, [last, count]);
  return { box, shown, height: list.current.getTotalSize() };
}

function Head<T>({ columns, sort }: Pick<DataTableProps<T>, 'columns' | 'sort'>) {
  return (
    <thead>
      <tr>
        {columns.map((column, at) => (
          <Title key={at} {...{ column, sort }} />
        ))}
      </tr>
    </thead>
  );
}

function Title<T>({ column, sort }: { column: Column<T>; sort: Sort | undefined }) {
  const { title, class: name, isSilent, sort: own } = column;
  if (isSilent)
    return (
      <th scope="col" class={name}>
        <span class="hidden">{title}</span>
      </th>
    );
  if (own === undefined || sort === undefined)
    return (
      <th scope="col" class={name}>
        {title}
      </th>
    );
  // Texts begin with the first, figures with the largest; the third click returns to the order of the screen.
  const orders = name?.includes('number') ? [`-${own}`, own] : [own, `-${own}`];
  const at = orders.indexOf(sort.by ?? '');
  const order = at < 0 ? 'none' : orders[at] === own ? 'ascending' : 'descending';
  return (
    <th scope="col" class={name} aria-sort={order}>
      <button type="button" class="sort" onClick={() => sort.choose(orders[at + 1])}>
        {title}
        {order !== 'none' && <span aria-hidden="true">{order === 'ascending' ? '↑' : '↓'}</span>}
      </button>
    </th>
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
  const { columns, isCurrent, onPick, above, headingOf } = table;
  const heading = headingOf?.(row);
  if (heading)
    return (
      <tr class="above" style={{ height: height && `${height}px` }}>
        <th scope="colgroup" colSpan={columns.length}>
          {heading}
        </th>
      </tr>
    );
  const line = above?.(row);
  const pick = (event: MouseEvent) => {
    if (onPick === undefined || (event.target as Element).closest('a, label')) return;
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
