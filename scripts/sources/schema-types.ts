/** A JSON schema, as far as the API's document uses them. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  description?: string;
}

/** The TypeScript type of a schema's values; `indent` is that of the line on which the type begins. */
export function typeOf(schema: Schema, indent = ''): string {
  const { $ref, type, anyOf, oneOf } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1)!;
  const choice = anyOf ?? oneOf;
  if (choice !== undefined) return union(choice.map((one) => typeOf(one, indent)));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  if (type === undefined) return 'unknown';
  return union([type].flat().map((one) => plainType(one, schema, indent)));
}

function plainType(type: string, schema: Schema, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const item = typeOf(schema.items ?? {}, indent);
      return / \| /.test(item) ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return objectType(schema, indent);
    default:
      throw new Error(`no TypeScript type for the JSON type ${type}`);
  }
}

/**
 * An object's type with the fields that are stated. That later versions may add fields is not part of the type: an index
 * signature would let every misspelt field pass.
 */
function objectType(
  { properties = {}, required = [], additionalProperties }: Schema,
  indent: string,
): string {
  const fields = Object.entries(properties);
  if (fields.length === 0) {
    const values =
      typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `Record<string, ${values}>`;
  }
  const lines = fields.map(([name, field]) => member(name, field, required.includes(name), `${indent}  `));
  return `{\n${lines.join('')}${indent}}`;
}

/** A field of an object type, with its description as a comment. */
export function member(name: string, schema: Schema, isRequired: boolean, indent: string): string {
  return `${comment(schema.description, indent)}${indent}${key(name)}${isRequired ? '' : '?'}: ${typeOf(schema, indent)};\n`;
}

/** A doc comment on its own line, or nothing. */
export function comment(text: string | undefined, indent: string): string {
  if (text === undefined) return '';
  return `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', `\n${indent} * `)} */\n`;
}

/** A property name, quoted if it must be. */
export const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

const union = (types: string[]): string => [...new Set(types)].join(' | ');

const literal = (value: unknown): string =>
  typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : JSON.stringify(value);
