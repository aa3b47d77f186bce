import { figure } from './words.ts';

/** The values of one child or combination of a sweep, by the JSON pointers of its axes. */
type Values = Readonly<Record<string, unknown>>;

/** A field in which the combinations of a sweep differ, with its value in each; undefined: it has none there. */
export interface Difference {
  /** As in the spec: `estimator.historyLength`. */
  field: string;
  /** As labels say it: `K`. */
  short: string;
  values: unknown[];
}

/** How people call fields of specs. */
const SHORT: Readonly<Record<string, string>> = {
  historyLength: 'K',
  learningRate: 'lr',
  groupSize: 'group size',
  lengthWeightAlpha: 'alpha',
};

/** The leaves of a value by their path. */
function* leavesOf(value: unknown, path: string): Generator<[path: string, value: unknown]> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) yield [path, value];
  else
    for (const [key, part] of Object.entries(value))
      yield* leavesOf(part, path === '' ? key : `${path}.${key}`);
}

/** The fields in which the combinations differ; all fields of the axes if there is only one combination. */
export function differencesOf(combinations: readonly Values[]): Difference[] {
  const flat = combinations.map((values) =>
    Object.entries(values).flatMap(([axis, value]) => [
      ...leavesOf(value, axis.slice(1).replaceAll('/', '.')),
    ]),
  );
  const leaves = flat.map((entries) => new Map(entries));
  const fields = [...new Set(flat.flatMap((entries) => entries.map(([field]) => field)))];
  return fields.flatMap((field) => {
    const values = leaves.map((one) => one.get(field));
    if (values.length > 1 && new Set(values.map((value) => JSON.stringify(value))).size === 1) return [];
    const last = field.split('.').at(-1)!;
    return [{ field, short: SHORT[last] ?? last, values }];
  });
}

/** A value of a field for people. */
export function valueInWords(value: unknown): string {
  if (value === undefined) return '–';
  if (typeof value === 'number') return figure(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Each combination in words, by what differs alone: `hgpo, K=2, seed 3`. */
export function namesOf(combinations: readonly Values[]): string[] {
  const differences = differencesOf(combinations);
  return combinations.map((_values, at) => {
    const words = differences.flatMap(({ short, values }) => {
      const value = values[at];
      if (value === undefined) return [];
      const said = valueInWords(value);
      if (short === 'name') return [said];
      return [short.endsWith('seed') ? `${short} ${said}` : `${short}=${said}`];
    });
    return words.length === 0 ? 'all children' : words.join(', ');
  });
}

/** An axis of parallel coordinates: the place of each combination, from 0 to 1, and the labels of its ends or values. */
export interface Coordinate {
  title: string;
  places: (number | undefined)[];
  ticks: { at: number; text: string }[];
}

/** A field as an axis: numbers to scale if they are more than eight, other values in their order. */
export function coordinateOf({
  field,
  short,
  values,
}: Omit<Difference, 'field'> & { field?: string }): Coordinate {
  const known = [...new Set(values.filter((value) => value !== undefined))];
  const numbers = known.filter((value) => typeof value === 'number');
  const isScaled = numbers.length === known.length && numbers.length > 8;
  const ordered: unknown[] = numbers.length === known.length ? numbers.toSorted((a, b) => a - b) : known;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const placeOf = (value: unknown) => {
    if (ordered.length === 1) return 0.5;
    return isScaled
      ? ((value as number) - low) / (high - low)
      : ordered.indexOf(value) / (ordered.length - 1);
  };
  const shown = isScaled ? [low, high] : ordered;
  return {
    title: titleOf({ field, short }),
    places: values.map((value) => (value === undefined ? undefined : placeOf(value))),
    ticks: shown.map((value) => ({ at: placeOf(value), text: valueInWords(value) })),
  };
}

/** The title of a field: `estimator` of `estimator.name`. */
export const titleOf = ({ field = '', short }: { field?: string | undefined; short: string }): string =>
  short === 'name' ? (field.split('.').at(-2) ?? short) : short;
