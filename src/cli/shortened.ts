/**
 * A text in at most `width` characters (3 at least), with its middle left out where it is longer: the names of a sweep's
 * children begin alike, and what tells them apart stands at the end.
 */
export function shortened(text: string, width: number): string {
  const chars = [...text];
  if (chars.length <= width) return text;
  const end = Math.floor((width - 1) / 2);
  return `${chars.slice(0, width - 1 - end).join('')}…${chars.slice(-end).join('')}`;
}
