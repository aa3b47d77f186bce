import type { ErrorObject } from 'ajv';
import { nearestName } from 'command-kit/nearest';
import { plural } from 'command-kit/plural';
import type { FieldProblem } from '../core/errors.ts';
import { maskedStart } from '../core/secret-patterns.ts';
import { clip, escapePointer } from './json.ts';

/** A JSON schema, as far as it is read to explain a mismatch. */
export interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  description?: string;
}

/** Problems told at most; an input with more is no better understood by reading on. */
export const MAX_PROBLEMS = 20;

/** Characters of an input that a message shows. */
const MAX_SHOWN = 60;
/** Characters of a text or a key that are read to show so many: a secret among them is known by what follows. */
const MAX_READ = 1000;
/** Characters of a field; only unreasonable keys are longer. */
const MAX_FIELD = 500;

/**
 * Ajv's errors (made with `verbose`) as sentences for the person who wrote the input, {@link MAX_PROBLEMS} at most: what
 * was expected, the given value, and the nearest valid name. `root` is the schema of the whole input, for keys that belong
 * elsewhere in it. Linear in the number of errors; of values and keys only the beginning is read.
 */
export function toFieldProblems(errors: readonly ErrorObject[], root: object): FieldProblem[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf');
  const paths = new Set(choices.map(({ schemaPath }) => schemaPath));
  const meant = new Map(choices.map((one) => [`${one.schemaPath} ${one.instancePath}`, branchOf(one)]));
  /** False for a problem of a branch that the input does not mean. */
  const counts = ({ schemaPath, instancePath }: ErrorObject): boolean => {
    const above = [...placesAbove(schemaPath)];
    const values = ['', ...placesAbove(`${instancePath}/`)];
    return above.every((path, at) => {
      if (!paths.has(path)) return true;
      const branch = above[at - 1]?.slice(path.length + 1);
      return values.some((value) => meant.get(`${path} ${value}`) === branch);
    });
  };
  return errors
    .filter((error) => counts(error) && (error.keyword !== 'anyOf' || branchOf(error) === undefined))
    .slice(0, MAX_PROBLEMS)
    .map((error) => ({ field: fieldOf(error), message: messageOf(error, root) }));
}

/** The branch that the input means of a choice of objects by their `type`: its problems replace that of the choice. */
function branchOf({ parentSchema, data }: ErrorObject): string | undefined {
  const at = typesOf(parentSchema as Schema, data).indexOf(typeOf(data));
  return at === -1 ? undefined : String(at);
}

/** The types of a choice of objects by their `type`; none for another choice, or if the input is no object. */
function typesOf({ anyOf = [] }: Schema, data: unknown): unknown[] {
  const types = anyOf.map(({ properties }) => properties?.type?.const);
  return types.includes(undefined) || !isObject(data) ? [] : types;
}

const isObject = (data: unknown): data is object =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

const isTagged = ({ parentSchema, data }: ErrorObject): boolean =>
  typesOf(parentSchema as Schema, data).length > 0;

function wrongType({ parentSchema, data }: ErrorObject): string {
  const schema = { enum: typesOf(parentSchema as Schema, data) };
  return typeOf(data) === undefined ? missing(schema) : notAmong(schema, typeOf(data));
}

const typeOf = (data: unknown): unknown => (data as { type?: unknown } | null)?.type;

/** The paths that a path of a schema lies below. */
function* placesAbove(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at);
}

function fieldOf(error: ErrorObject): string {
  const { instancePath, keyword, params } = error;
  const at = clip(instancePath, MAX_FIELD);
  if (keyword === 'required') return `${at}/${escapePointer(params.missingProperty)}`;
  if (keyword === 'additionalProperties')
    return `${at}/${escapePointer(clip(params.additionalProperty, 100))}`;
  return isTagged(error) ? `${at}/type` : at;
}

function messageOf(error: ErrorObject, root: Schema): string {
  const { keyword, params, data } = error;
  const schema = (error.parentSchema ?? {}) as Schema;
  switch (keyword) {
    case 'required':
      return missing(schema.properties?.[params.missingProperty]);
    case 'additionalProperties':
      return unknownKey({ key: params.additionalProperty, schema, path: error.instancePath, root });
    case 'anyOf':
      return isTagged(error) ? wrongType(error) : notAmong(schema, data);
    case 'const':
    case 'enum':
      return notAmong(schema, data);
    case 'pattern':
      return schema.description
        ? `${shown(data)} does not fit: ${schema.description}`
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
  return `must have ${bound} ${plural(limit, what)}, but ${count} came`;
}

/** The places come in either order, as the values' type has it. */
function twice(one: number, other: number): string {
  return `must have no value twice: those at ${Math.min(one, other)} and ${Math.max(one, other)} are the same`;
}

/** The keys of an object that is none of those that are possible. */
function keysIn(data: unknown): string {
  if (!isObject(data)) return '';
  const keys = Object.keys(data);
  const first = keys.slice(0, MAX_SHOWN).map((key) => key.slice(0, MAX_READ));
  return maskedStart(` {${first.join(', ')}}`, MAX_SHOWN);
}

function missing(schema: Schema | undefined): string {
  return schema ? `is missing; it must be ${expected(schema)}` : 'is missing';
}

function unknownKey(input: { key: string; schema: Schema; path: string; root: Schema }): string {
  const { key, schema, path, root } = input;
  const known = Object.keys(schema.properties ?? {});
  const [pattern] = Object.keys(schema.patternProperties ?? {});
  if (pattern !== undefined) {
    return schema.description
      ? `is no key that fits: ${schema.description}`
      : `is no key that fits ${pattern}`;
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
function placesOf(schema: Schema, at: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => [
    `${at}/${key}`,
    ...placesOf(inner, `${at}/${key}`),
  ]);
}

function notAmong(schema: Schema, data: unknown): string {
  const values = valuesOf(schema);
  const names = values.filter((value) => typeof value === 'string');
  const near = typeof data === 'string' ? nearestName(data, names) : undefined;
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return `must be ${expected(schema)}, but ${came(data)}${keysIn(data)} came${hint}`;
}

function valuesOf(schema: Schema): unknown[] {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  return (schema.anyOf ?? []).flatMap(valuesOf);
}

/** What a schema asks for, in words: `an integer from 0 to 64`. */
function expected(schema: Schema): string {
  const values = valuesOf(schema);
  const others = (schema.anyOf ?? []).filter((one) => valuesOf(one).length === 0);
  const choices = others.map((one) => `${expected(one)}${keysOf(one)}`);
  if (values.length > 0)
    choices.push(`${values.length === 1 ? '' : 'one of '}${values.map(shown).join(', ')}`);
  if (choices.length > 0) return choices.join(', or ');
  const types = [schema.type ?? ''].flat();
  return types.map((type) => `${WORDS[type] ?? 'something else'}${limits(type, schema)}`).join(', or ');
}

const WORDS: Readonly<Record<string, string>> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

/** Of an alternative to null: its range, and its keys, which tell it from the input. */
function limits(type: string, schema: Schema): string {
  if (type === 'null') return '';
  return `${range(schema)}${Array.isArray(schema.type) ? keysOf(schema) : ''}`;
}

/** What tells an object of a choice from the others, and from the input: ` {min, max, scale?}`. */
function keysOf({ properties, required = [] }: Schema): string {
  const keys = Object.keys(properties ?? {}).map((key) => (required.includes(key) ? key : `${key}?`));
  return keys.length === 0 ? '' : ` {${keys.join(', ')}}`;
}

function range({ minimum, maximum, exclusiveMinimum }: Schema): string {
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
  const text = typeof data === 'string' ? data.slice(0, MAX_READ) : data;
  return maskedStart(JSON.stringify(text) ?? String(text), MAX_SHOWN);
}
