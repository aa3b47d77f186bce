/** A number with at most so many significant digits. */
export function significant(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** A share, 0 to 1, in percent with at least two digits. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 ? value.toFixed(0) : value.toPrecision(2)} %`;
}
