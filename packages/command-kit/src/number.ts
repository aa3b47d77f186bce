/** A number with at most so many significant digits. */
export function significant(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** A share in percent with at least two digits. */
export function percent(part: number, whole = 1): string {
  const value = (100 * part) / whole;
  return `${value >= 10 ? value.toFixed(0) : value.toPrecision(2)} %`;
}
