/**
 * Minutes of a time limit in one of Slurm's forms: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S; seconds are rounded up. Undefined: it is
 * none of these.
 */
export function slurmMinutes(text: string): number | undefined {
  const found = /^(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?$/.exec(text);
  if (found === null) return undefined;
  const [, days, first, second, third] = found;
  const [a, b, c] = [first, second, third].map((part) => Number(part ?? 0)) as [number, number, number];
  if (days !== undefined) return Number(days) * 1_440 + a * 60 + b + Math.ceil(c / 60);
  return third === undefined ? a + Math.ceil(b / 60) : a * 60 + b + Math.ceil(c / 60);
}
