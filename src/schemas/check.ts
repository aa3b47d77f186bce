import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FieldProblem } from '../core/errors.ts';
import { MAX_PROBLEMS, type Schema, toFieldProblems } from './field-problems.ts';

/** Nothing is coerced, dropped or filled in: what does not fit is refused. */
export const STRICT_AJV = {
  strict: true,
  allErrors: true,
  verbose: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  ownProperties: true,
} as const;

const FIRST_ONLY = { ...STRICT_AJV, allErrors: false } as const;

/** Compilers that many checks share: each takes about 20 ms to make. A schema with an `$id` is compiled once by one. */
interface Compilers {
  first: Ajv;
  all: Ajv;
}

/** See {@link Compilers}. */
export function createCompilers(): Compilers {
  return { first: new Ajv(FIRST_ONLY), all: new Ajv(STRICT_AJV) };
}

/** Problems of an input, at most {@link MAX_PROBLEMS}; none: it fits. */
export type Check = (input: unknown) => FieldProblem[];

/**
 * The check of inputs against a schema. Linear in the input, however much of it is wrong: a first pass ends at the first
 * problem; all problems are then looked for in an excerpt, with the first members of each list and each object. So a
 * problem after {@link MAX_PROBLEMS} members may show only when those before it are solved.
 */
export function createCheck(schema: object, compilers: Compilers = createCompilers()): Check {
  const first = compilers.first.compile(schema);
  let all: ValidateFunction | undefined;
  const known = new Set<string>();
  return (input) => {
    if (first(input)) return [];
    const [certain] = toFieldProblems(first.errors ?? [], schema);
    // Most inputs fit: what tells all problems is made when the first one does not.
    if (all === undefined) {
      all = compilers.all.compile(schema);
      for (const name of namesIn(schema)) known.add(name);
    }
    const originals = new Map<unknown, object>();
    all(excerptOf(input, known, originals));
    const errors = (all.errors ?? []).map(
      (error): ErrorObject => ({ ...error, data: originals.get(error.data) ?? error.data }),
    );
    const problems = toFieldProblems(errors, schema);
    return problems.length > 0 || certain === undefined ? problems : [certain];
  };
}

/** The names of fields at any depth. */
function namesIn(schema: Schema): string[] {
  const inner = [schema.properties, schema.patternProperties].flatMap((one) => Object.values(one ?? {}));
  const parts = [...inner, ...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  return [...Object.keys(schema.properties ?? {}), ...parts.flatMap(namesIn)];
}

/**
 * The input with the first members of each list and object only. Fields that the schema knows stay, so that none is said
 * to be missing. `originals` receives the source of each container.
 */
function excerptOf(value: unknown, known: ReadonlySet<string>, originals: Map<unknown, object>): unknown {
  if (value === null || typeof value !== 'object') return value;
  const copy = Array.isArray(value)
    ? value.slice(0, MAX_PROBLEMS).map((one: unknown) => excerptOf(one, known, originals))
    : membersOf(value, known, originals);
  originals.set(copy, value);
  return copy;
}

function membersOf(value: object, known: ReadonlySet<string>, originals: Map<unknown, object>): object {
  let others = 0;
  const entries = Object.entries(value).filter(([key]) => known.has(key) || others++ < MAX_PROBLEMS);
  return Object.fromEntries(entries.map(([key, inner]) => [key, excerptOf(inner, known, originals)]));
}
