type Value = string | number | boolean | readonly string[] | undefined;

/** The command of the terminal that shows the same; options without a value are omitted. */
export function command(words: string, options: Record<string, Value> = {}): string {
  const parts = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === '' || value === false) return [];
    if (value === true) return [`--${name}`];
    const values = Array.isArray(value) ? value.join(',') : String(value);
    return values === '' ? [] : [`--${name} ${quoted(values)}`];
  });
  return ['echelon', words, ...parts].join(' ');
}

/** A word of a shell. */
export function quoted(text: string): string {
  return /^[\w./:,@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
