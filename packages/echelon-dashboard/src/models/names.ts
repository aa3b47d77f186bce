/** The text with the names of experiments in place of their ids; unknown ids stay. */
export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(/\bexp-[0-9a-z]{20}\b/g, (id) => names.get(id) ?? id);
}
