import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { PROBLEM_TYPE } from './to-problem.ts';

/** Errors that any request can meet; the Content-Type is checked even if the route has no body. */
const ALWAYS: readonly ErrorCode[] = [
  'invalid-request',
  'unsupported-media-type',
  'headers-too-large',
  'internal',
];

/** Errors that any request can meet except a health check, which needs no token and is not counted. */
const OF_CALLERS: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'rate-limited',
  'deadline-exceeded',
  'store-unavailable',
  'store-foreign',
  'store-misconfigured',
  'record-too-new',
];

/** The parts of an OpenAPI document that routes and schemas fill. */
export interface OpenApi {
  paths: Record<string, Record<string, object>>;
  components: Record<
    'headers' | 'parameters' | 'responses' | 'schemas' | 'securitySchemes',
    Record<string, object>
  >;
}

/** A header as a route states it: a JSON schema with a description. */
type Header = { type: string; description: string };

/** An answer as a route states it. An answer without `content` has no body. */
export interface Answer {
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, { schema: object }>;
}

/** The part of an input that a request has in its path, its query or its headers: a schema of an object. */
type Inputs = { properties?: Record<string, object>; required?: string[] } | undefined;

/** What an operation of the document is made of. */
interface Operation {
  operationId: string;
  summary: string;
  description?: string | undefined;
  tags: [string];
  security: object[];
  inputs: Record<'path' | 'query' | 'header', Inputs>;
  body?: { required: boolean; type: string; schema: object; examples: Record<string, object> } | undefined;
  answers: Record<string, Answer>;
  errors: readonly ErrorCode[];
  /** Whether requests are counted and answers tell what is left. */
  isLimited: boolean;
}

const RETRY_AFTER: Record<string, Header> = {
  'Retry-After': { type: 'integer', description: 'Seconds to wait before the next try.' },
};
const CHALLENGE: Record<string, Header> = {
  'WWW-Authenticate': { type: 'string', description: 'Authentication scheme.' },
};

/** Adds an operation to the document. Parameters and refusals are written once, in `components`, and referred to. */
export function addOperation(document: OpenApi, at: { method: string; url: string }, stated: Operation) {
  const { inputs, body, answers, errors, isLimited, ...told } = stated;
  const limits = isLimited
    ? Object.fromEntries(Object.keys(RATE_HEADERS).map((name) => [name, refer('headers', name)]))
    : {};
  const operation = {
    ...told,
    parameters: Object.entries(inputs).flatMap(([where, some]) => parametersOf(document, where, some)),
    ...(body && { requestBody: bodyOf(body) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [
          status,
          status < '300'
            ? responseOf(answer, limits)
            : shared(document, 'responses', pascal(STATUS_CODES[status]!), responseOf(answer)),
        ]),
      ),
      ...problemsOf(document, [...ALWAYS, ...(isLimited ? OF_CALLERS : []), ...errors], limits),
    },
  };
  const path = at.url.replace(/:(\w+)/g, '{$1}');
  document.paths[path] = {
    ...document.paths[path],
    [at.method.toLowerCase()]: documentSchema(document, operation),
  };
}

/** What every answer says of the limit of requests. */
export const RATE_HEADERS = Object.fromEntries(
  Object.entries({
    'X-RateLimit-Limit': 'Maximum number of requests per window.',
    'X-RateLimit-Remaining': 'Number of requests left in the current window.',
    'X-RateLimit-Reset': 'Seconds until the next window.',
  }).map(([name, description]) => [name, { description, schema: { type: 'integer', minimum: 0 } }]),
);

function parametersOf(document: OpenApi, where: string, inputs: Inputs): object[] {
  return Object.entries(inputs?.properties ?? {}).map(([name, input]) => {
    const { description, ...schema } = input as { description?: string };
    const required = where === 'path' || (inputs?.required ?? []).includes(name);
    const parameter = {
      schema,
      in: where,
      name,
      required,
      ...(description !== undefined && { description }),
    };
    return shared(document, 'parameters', pascal(`${where}-${name}`), parameter);
  });
}

function bodyOf({ required, type, schema, examples }: NonNullable<Operation['body']>): object {
  const shown = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    required,
    content: { [type]: { schema, ...(shown.length > 0 && { examples: Object.fromEntries(shown) }) } },
  };
}

/** The refusals of a route: one response for each status, which names its codes. */
function problemsOf(document: OpenApi, codes: readonly ErrorCode[], limits: object): Record<string, object> {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => {
      const answer: Answer = {
        description: all.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
        headers: {
          ...(all.some((code) => ERRORS[code].retry) && RETRY_AFTER),
          ...(status === 401 && CHALLENGE),
        },
        content: { [PROBLEM_TYPE]: { schema: { $ref: 'Problem#' } } },
      };
      const response = responseOf(answer, status === 429 ? limits : {});
      return [status, shared(document, 'responses', all.map(pascal).join('Or'), response)];
    }),
  );
}

function responseOf({ headers = {}, ...answer }: Answer, limits: object = {}): object {
  const told = Object.entries(headers).map(([name, { description, ...schema }]) => [
    name,
    { schema, description },
  ]);
  const all = { ...Object.fromEntries(told), ...limits };
  return {
    description: answer.description,
    ...(Object.keys(all).length > 0 && { headers: all }),
    ...(answer.content && { content: answer.content }),
  };
}

/** The parts of each document as the routes state them: most routes have the same refusals, which are written once. */
const statedParts = new WeakMap<OpenApi, Map<string, string>>();

/** A reference to the part, which `components` holds under the name; the part itself if another one has the name. */
function shared(document: OpenApi, kind: 'parameters' | 'responses', name: string, part: object): object {
  const parts = statedParts.get(document) ?? new Map<string, string>();
  statedParts.set(document, parts);
  const [key, text] = [`${kind}/${name}`, JSON.stringify(part)];
  if (!parts.has(key)) {
    parts.set(key, text);
    document.components[kind][name] = documentSchema(document, part);
  }
  return parts.get(key) === text ? refer(kind, name) : part;
}

const refer = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

const pascal = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/**
 * A part of the document with the schemas in it: references name `components`, to which each named schema (`$id`) moves, and a
 * constant is an enumeration of one value, which more generators and the page at /docs know.
 */
export function documentSchema<T extends object>({ components }: OpenApi, part: T): T {
  return JSON.parse(JSON.stringify(part), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { $ref, $id, const: only, patternProperties, ...rest } = value as Record<string, unknown>;
    if (typeof $ref === 'string') return { $ref: $ref.replace(/^(\w+)#$/, '#/components/schemas/$1') };
    const schema = {
      ...rest,
      ...(only !== undefined && { enum: [only] }),
      ...(patternProperties !== undefined && {
        additionalProperties: Object.values(patternProperties as object)[0],
      }),
    };
    if (typeof $id !== 'string') return schema;
    components.schemas[$id] = schema;
    return refer('schemas', $id);
  }) as T;
}

/** The answer of a resource that was made or accepted, with its path in the header Location. */
export function located(description: string, schema: string, location: string): Answer {
  return {
    description,
    headers: { Location: { type: 'string', description: location } },
    content: { 'application/json': { schema: { $ref: `${schema}#` } } },
  };
}
