import { canonicalJson } from '../schemas/json.ts';

/**
 * A value of a sweep's axis for people: a text as it is; something with a name by its name and then what else it has,
 * `hgpo historyLength=2 mode=mean_norm`; else JSON.
 */
export function valueInWords(value: unknown): string {
  if (typeof value === 'string') return value;
  const json = canonicalJson(value) ?? 'null';
  if (typeof value !== 'object' || value === null || !('name' in value)) return json;
  const { name, ...rest } = value;
  if (typeof name !== 'string') return json;
  const parts = Object.entries(rest).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return [name, ...parts.map(([key, part]) => `${key}=${valueInWords(part)}`)].join(' ');
}
