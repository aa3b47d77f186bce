import type { ErrorObject } from 'ajv';
import type { FieldProblem } from '../core/errors.ts';
import { maskSecrets } from '../core/secret-patterns.ts';
import { clip, escapePointer } from './json.ts';
import { nearestName } from './nearest.ts';

/** What is read of a schema to explain a mismatch. */
interface Shape {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Shape[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  properties?: Record<string, Shape>;
  patternProperties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
  description?: string;
}

/** Problems told at most; a body with more is no better understood by reading on. */
const MOST = 20;

/**
 * Ajv's errors (made with `verbose` and `allErrors`) as sentences for the person who wrote the input: what was
 * expected, what came, and the nearest valid name. `root` is the schema of the whole input, for keys that belong
 * elsewhere in it.
 */
export function toFieldProblems(errors: readonly ErrorObject[], root: object): FieldProblem[] {
  const covered = errors.filter((error) => error.keyword === 'anyOf').map((error) => `${error.schemaPath}/`);
  return errors
    .filter((error) => !covered.some((path) => error.schemaPath.startsWith(path)))
    .slice(0, MOST)
    .map((error) => ({ field: fieldOf(error), message: messageOf(error, root) }));
}

function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  if (keyword === 'required') return `${instancePath}/${escapePointer(params.missingProperty)}`;
  if (keyword === 'additionalProperties') {
    return `${instancePath}/${escapePointer(clip(params.additionalProperty, 100))}`;
  }
  return instancePath;
}

function messageOf(error: ErrorObject, root: Shape): string {
  const { keyword, params, data } = error;
  const schema = (error.parentSchema ?? {}) as Shape;
  switch (keyword) {
    case 'required':
      return missing(schema.properties?.[params.missingProperty]);
    case 'additionalProperties':
      return unknownKey({ key: params.additionalProperty, schema, path: error.instancePath, root });
    case 'anyOf':
    case 'const':
    case 'enum':
      return notAmong(schema, data);
    case 'pattern':
      return schema.description
        ? `${shown(data)} does not fit: ${schema.description} (${params.pattern})`
        : `${shown(data)} does not match ${params.pattern}`;
    case 'minLength':
    case 'maxLength':
      return `must have at ${keyword === 'minLength' ? 'least' : 'most'} ${params.limit} characters`;
    case 'minItems':
    case 'maxItems':
    case 'minProperties':
    case 'maxProperties':
      return counted(keyword, params.limit, data);
    case 'uniqueItems':
      return twice(params.i, params.j);
    default:
      return `must be ${expected(schema)}, but ${came(data)} came`;
  }
}

/** `must have at least 1 key, but 0 came`. */
function counted(keyword: string, limit: number, data: unknown): string {
  const bound = keyword.startsWith('min') ? 'at least' : 'at most';
  const [what, count] = Array.isArray(data)
    ? ['value', data.length]
    : ['key', Object.keys(Object(data)).length];
  return `must have ${bound} ${limit} ${what}${limit === 1 ? '' : 's'}, but ${count} came`;
}

/** The places come in either order, as the values' type has it. */
function twice(one: number, other: number): string {
  return `must have no value twice: those at ${Math.min(one, other)} and ${Math.max(one, other)} are the same`;
}

/** The keys of an object that is none of those that are possible. */
function keysIn(data: unknown): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return '';
  return clip(maskSecrets(` {${Object.keys(data).join(', ')}}`));
}

function missing(schema: Shape | undefined): string {
  return schema ? `is missing; it must be ${expected(schema)}` : 'is missing';
}

function unknownKey(input: { key: string; schema: Shape; path: string; root: Shape }): string {
  const { key, schema, path, root } = input;
  const known = Object.keys(schema.properties ?? {});
  const [pattern] = Object.keys(schema.patternProperties ?? {});
  if (pattern !== undefined) {
    return `is no key that fits${schema.description ? `: ${schema.description}` : ''} (${pattern})`;
  }
  if (known.length === 0) return 'is not a known key; none is known here';
  const elsewhere = placesOf(root, '').filter((place) => place !== path && place.endsWith(`/${key}`));
  if (elsewhere[0] !== undefined) return `is not a known key here; did you mean ${elsewhere[0]}?`;
  const near = nearestName(key, known);
  return near === undefined
    ? `is not a known key; known here: ${known.join(', ')}`
    : `is not a known key; did you mean ${near}?`;
}

/** JSON pointers of every key that a schema of nested objects knows. */
function placesOf(schema: Shape, at: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => [
    `${at}/${key}`,
    ...placesOf(inner, `${at}/${key}`),
  ]);
}

function notAmong(schema: Shape, data: unknown): string {
  const values = valuesOf(schema);
  const names = values.filter((value) => typeof value === 'string');
  const near = typeof data === 'string' ? nearestName(data, names) : undefined;
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return `must be ${expected(schema)}, but ${came(data)}${keysIn(data)} came${hint}`;
}

function valuesOf(schema: Shape): unknown[] {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  return (schema.anyOf ?? []).flatMap(valuesOf);
}

/** What a schema asks for, in words: `an integer from 0 to 64`. */
function expected(schema: Shape): string {
  const values = valuesOf(schema);
  if (values.length > 0)
    return values.length === 1 ? shown(values[0]) : `one of ${values.map(shown).join(', ')}`;
  if (schema.anyOf) return schema.anyOf.map((one) => `${expected(one)}${keysOf(one)}`).join(', or ');
  const words: Record<string, string> = {
    integer: 'an integer',
    number: 'a number',
    string: 'a string',
    boolean: 'true or false',
    object: 'an object',
    array: 'an array',
    null: 'null',
  };
  return `${words[schema.type ?? ''] ?? 'something else'}${range(schema)}`;
}

/** What tells an object of a choice from the others, and from what came: ` {min, max, scale?}`. */
function keysOf({ properties, required = [] }: Shape): string {
  const keys = Object.keys(properties ?? {}).map((key) => (required.includes(key) ? key : `${key}?`));
  return keys.length === 0 ? '' : ` {${keys.join(', ')}}`;
}

function range({ minimum, maximum, exclusiveMinimum }: Shape): string {
  const low = exclusiveMinimum === undefined ? minimum : exclusiveMinimum;
  const above = exclusiveMinimum === undefined ? 'from' : 'above';
  if (low !== undefined && maximum !== undefined) return ` ${above} ${low} to ${maximum}`;
  if (low !== undefined) return above === 'from' ? ` of at least ${low}` : ` above ${low}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

function came(data: unknown): string {
  if (data === null) return 'null';
  if (Array.isArray(data)) return 'an array';
  if (typeof data === 'object') return 'an object';
  if (typeof data === 'string') return `the string ${shown(data)}`;
  return shown(data);
}

function shown(data: unknown): string {
  return clip(maskSecrets(JSON.stringify(data) ?? String(data)));
}
