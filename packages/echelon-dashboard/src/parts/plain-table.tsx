import type { ComponentChildren } from 'preact';

interface PlainTableProps {
  /** The titles of the columns; '' is the column of the actions. */
  columns: readonly string[];
  /** Those of the columns that hold numbers. */
  numbers?: readonly string[];
  /** Rows. */
  children: ComponentChildren;
}

/** A table with a head. */
export function PlainTable({ columns, numbers = [], children }: PlainTableProps) {
  return (
    <table class="plain">
      <thead>
        <tr>
          {columns.map((title) => (
            <th key={title} scope="col" class={numbers.includes(title) ? 'number' : undefined}>
              {title || <span class="hidden">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
