/**
 * A text in at most `width` characters (at least 3). A longer text loses its middle: the names of a sweep's children begin
 * alike and differ at their end.
 */
export function shortened(text: string, width: number): string {
  const chars = [...text];
  if (chars.length <= width) return text;
  const end = Math.floor((width - 1) / 2);
  return `${chars.slice(0, width - 1 - end).join('')}…${chars.slice(-end).join('')}`;
}
