/** A line of CSV (RFC 4180). A text that a spreadsheet would evaluate gets an apostrophe. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return cells
    .map((cell) => {
      const text = typeof cell === 'string' && /^[=+@\t\r-]/.test(cell) ? `'${cell}` : String(cell ?? '');
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(',');
}
