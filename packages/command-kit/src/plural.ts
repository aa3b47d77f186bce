/** The noun as it follows a number: `row` after 1, else `rows`. */
export function nounOf(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** `1 row`, `2 rows`. */
export function plural(count: number, one: string, many?: string): string {
  return `${count} ${nounOf(count, one, many)}`;
}

/** `1 row`, `2 rows`; thousands are separated: `1,234 rows`. */
export function counted(count: number, one: string, many?: string): string {
  return `${count.toLocaleString('en-US')} ${nounOf(count, one, many)}`;
}
