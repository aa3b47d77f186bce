/** Value of a line of Prometheus' text format, by name and labels in any order. */
export function numberAt(
  text: string,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  for (const line of text.split('\n')) {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found?.[1] !== name) continue;
    const wanted = Object.entries(labels).every(([key, value]) => found[2]?.includes(`${key}="${value}"`));
    if (wanted) return Number(found[3]);
  }
  return undefined;
}
