import { STATUS_CODES } from 'node:http';
import { allEngines, engineOf } from '../../engines/registry.ts';

/** The parts of an OpenAPI document that are finished here. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components?: { headers?: Record<string, object>; schemas?: Record<string, unknown> };
}

interface Operation {
  operationId?: string;
  summary?: string;
  requestBody?: { required?: boolean; content?: Record<string, { schema?: object; examples?: object }> };
  responses?: Record<string, { description?: string; headers?: Record<string, object>; content?: object }>;
}

const Count = { type: 'integer', minimum: 0 };

/** What every answer says of the limit of requests. */
const RATE_HEADERS: Record<string, { description: string; schema: object }> = {
  'X-RateLimit-Limit': { description: 'Maximum number of requests per window.', schema: Count },
  'X-RateLimit-Remaining': { description: 'Number of requests left in the current window.', schema: Count },
  'X-RateLimit-Reset': { description: 'Seconds until the next window.', schema: Count },
};

/** Bodies that are accepted as they stand, by operation. */
function examplesOf(operationId: string): Record<string, unknown> | undefined {
  switch (operationId) {
    case 'submitExperiment':
    case 'planExperiment':
      return Object.fromEntries(allEngines().map(({ name, example }) => [name, example]));
    case 'submitSweep':
      return { grid: SWEEP_EXAMPLE };
    case 'cancelExperiment':
      return { reason: { reason: 'the wrong seed' } };
    default:
      return undefined;
  }
}

const SWEEP_EXAMPLE = {
  name: 'two estimators',
  method: 'grid',
  spec: engineOf('local').example,
  axes: { 'training.seed': [1, 2, 3] },
};

/**
 * Finishes the document that is made from the routes, so that generated clients need no hand work: objects that a field
 * tells apart have names of their own, answers name the headers of the limits, bodies that are easier shown than described
 * have examples, and what many operations repeat is written once. Changes the document.
 */
export function finishDocument(document: OpenApi): void {
  nameChoices(document.components?.schemas ?? {});
  document.components = {
    ...document.components,
    headers: { ...document.components?.headers, ...RATE_HEADERS },
  };
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const operation of Object.values(methods)) {
      if (path.startsWith('/v1/')) addRateHeaders(operation);
      addExamples(operation);
    }
  }
  shareRepeated(document);
}

function addRateHeaders({ responses = {} }: Operation): void {
  const headers = Object.fromEntries(
    Object.keys(RATE_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  for (const [status, answer] of Object.entries(responses)) {
    if (/^2/.test(status) || status === '429') answer.headers = { ...answer.headers, ...headers };
  }
}

function addExamples({ operationId, requestBody }: Operation): void {
  const content = requestBody?.content?.['application/json'];
  const examples = examplesOf(operationId ?? '');
  if (content === undefined || examples === undefined) return;
  content.examples = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}

interface Tagged {
  type: 'object';
  properties: { type: { enum: [string] } };
}

/** A shared choice of objects, each of its own `type`, as a choice of shared schemas: `started` of Event is StartedEvent. */
function nameChoices(schemas: Record<string, unknown>): void {
  for (const [name, schema] of Object.entries(schemas)) {
    const { anyOf, ...rest } = schema as { anyOf?: unknown[] };
    if (!anyOf?.every(isTagged)) continue;
    const kind = /[A-Z][a-z]+$/.exec(name)?.[0] ?? name;
    const mapping: Record<string, string> = {};
    for (const one of anyOf) {
      const [value] = one.properties.type.enum;
      const own = `${value.charAt(0).toUpperCase()}${value.slice(1)}${kind}`;
      if (own in schemas) throw new Error(`two schemas are named ${own}`);
      schemas[own] = one;
      mapping[value] = `#/components/schemas/${own}`;
    }
    const oneOf = Object.values(mapping).map(($ref) => ({ $ref }));
    schemas[name] = { ...rest, oneOf, discriminator: { propertyName: 'type', mapping } };
  }
}

function isTagged(schema: unknown): schema is Tagged {
  const { type, properties } = schema as Partial<Tagged>;
  return type === 'object' && properties?.type?.enum?.length === 1;
}

/** A response or a parameter of an operation, or a reference to a shared one. */
type Part = { $ref?: string; description?: string; in?: string; name?: string };

/** The parts of an OpenAPI document that are shared here. */
interface Shareable {
  paths: Record<string, Record<string, { parameters?: Part[]; responses?: Record<string, Part> }>>;
  components?: object;
}

/**
 * Replaces repeated error responses and parameters by references to `components`: they are most of the document. Of
 * several parts with one name, the most frequent is shared and the others are not moved. Changes the document.
 */
export function shareRepeated(document: Shareable): void {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const answers = operations.flatMap(({ responses = {} }) => Object.entries(responses));
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const shared = {
    parameters: repeated(parameters.map((parameter) => [parameterName(parameter), parameter])),
    responses: repeated(
      answers
        .filter(([status]) => status >= '300')
        .map(([status, answer]) => [responseName(status, answer), answer]),
    ),
  };
  for (const operation of operations) {
    for (const [status, answer] of Object.entries(operation.responses ?? {}))
      operation.responses![status] = reference('responses', shared.responses, answer);
    operation.parameters &&= operation.parameters.map((one) =>
      reference('parameters', shared.parameters, one),
    );
  }
  document.components = { ...document.components, ...shared };
}

/** The error codes that the description lists, or the words of the status: `InvalidRequestOrInvalidCursor`. */
function responseName(status: string, { description = '' }: Part): string {
  const codes = [...description.matchAll(/`([a-z-]+)`:/g)].map(([, code]) => code!);
  return [...new Set(codes.length > 0 ? codes : [STATUS_CODES[status] ?? status])].map(pascal).join('Or');
}

const parameterName = ({ in: where = '', name = '' }: Part): string => pascal(`${where}-${name}`);

const pascal = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** The parts that occur more than once, by name; the most frequent one takes a name. */
function repeated(named: [name: string, part: Part][]): Record<string, Part> {
  const groups = Object.values(Object.groupBy(named, ([, part]) => JSON.stringify(part)));
  const found: Record<string, Part> = {};
  for (const group of groups.sort((a, b) => b!.length - a!.length)) {
    const [name, part] = group![0]!;
    if (group!.length > 1) found[name] ??= part;
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function reference(kind: string, shared: Record<string, Part>, part: Part): Part {
  const text = JSON.stringify(part);
  const name = Object.keys(shared).find((one) => JSON.stringify(shared[one]) === text);
  return name === undefined ? part : { $ref: `#/components/${kind}/${name}` };
}
