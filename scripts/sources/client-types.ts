import { ESTIMATOR_FIELDS } from '../../src/engines/local/estimator-fields.ts';
import { comment, key, member, type Schema, typeOf } from './schema-types.ts';

interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema: Schema;
  description?: string;
}

type Content = Record<string, { schema: Schema }>;

interface Operation {
  summary?: string;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

/** The API's document, as far as types are made from it. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
}

/** The types of the client: one of each shared schema, and `Paths` with what each operation takes and answers. */
export function clientTypes(document: Document): string {
  const schemas = Object.entries(withEstimators(document.components.schemas))
    .map(([name, schema]) => `${comment(schema.description, '')}export type ${name} = ${typeOf(schema)};\n`)
    .join('\n');
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) =>
      operationType(document, method, operation),
    );
    return `  '${path}': {\n${operations.join('')}  };\n`;
  });
  return `// Generated from the document of the API by scripts/sources.mjs; not to be edited.

${schemas}
/**
 * Every operation by its path and method: what it takes, and its \`answer\`; an event stream has \`messages\` instead, a
 * file neither.
 */
export interface Paths {
${paths.join('')}}
`;
}

function operationType(document: Document, method: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((one) =>
    '$ref' in one ? document.components.parameters[one.$ref.split('/').at(-1)!]! : one,
  );
  const groups = (['path', 'query', 'header'] as const).map((where) =>
    group(
      where === 'header' ? 'headers' : where,
      parameters.filter((one) => one.in === where),
    ),
  );
  const members = [...groups, body(operation), answer(operation)].join('');
  return `${comment(operation.summary, '    ')}    ${method}: {\n${members}    };\n`;
}

/** Parameters of one kind. `undefined` is accepted for those that may be omitted: the client does not send it. */
function group(name: string, parameters: Parameter[]): string {
  if (parameters.length === 0) return '';
  const indent = ' '.repeat(8);
  const members = parameters.map(({ name: one, required, schema, description }) => {
    const type = typeOf(schema, indent);
    const text = comment(description, indent);
    return `${text}${indent}${key(one)}${required ? `: ${type}` : `?: ${type} | undefined`};\n`;
  });
  const isRequired = parameters.some(({ required }) => required);
  return `      ${name}${isRequired ? '' : '?'}: {\n${members.join('')}      };\n`;
}

function body({ requestBody }: Operation): string {
  if (requestBody?.content['application/octet-stream'])
    return `      body: Uint8Array<ArrayBuffer> | Blob;\n`;
  const schema = requestBody?.content['application/json']?.schema;
  return schema === undefined ? '' : member('body', schema, requestBody!.required ?? false, '      ');
}

function answer({ responses }: Operation): string {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const of = (type: string) => good.flatMap(([, { content }]) => content?.[type]?.schema ?? []);
  const [answers, messages] = [of('application/json'), of('text/event-stream')];
  if (messages.length > 0) return member('messages', { anyOf: messages }, true, '      ');
  if (answers.length > 0) return member('answer', { anyOf: answers }, true, '      ');
  return good.some(([, { content }]) => content !== undefined) ? '' : '      answer: undefined;\n';
}

/**
 * An estimator takes the fields of its own name only. The document has the fields of all of them in one object, since
 * validation says more of a wrong field there; the type is one member of a union for each name.
 */
function withEstimators(schemas: Record<string, Schema>): Record<string, Schema> {
  const local = structuredClone(schemas.LocalSpec!);
  const { properties, ...rest } = local.properties!.estimator!;
  const anyOf = Object.entries(ESTIMATOR_FIELDS).map(([name, fields]) => ({
    ...rest,
    properties: {
      name: { const: name },
      ...Object.fromEntries(fields.map((field) => [field, properties![field]!])),
    },
  }));
  local.properties!.estimator = { anyOf };
  return { ...schemas, LocalSpec: local };
}
