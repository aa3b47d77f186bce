/** The number with the fewest significant digits from `low` to `high`: a constant that people write is short. */
export function roundest(low: number, high: number): number {
  const middle = (low + high) / 2;
  for (let digits = 1; digits <= 15; digits++) {
    for (const at of [middle, low, high]) {
      const short = Number(at.toPrecision(digits));
      if (short >= low && short <= high) return short;
    }
  }
  return middle;
}
