/** The API's document as the client's types are made from it: unions that TypeScript can narrow. */

import { ESTIMATOR_FIELDS } from '../../../src/plan/estimator-fields.ts';

type Json = { [key: string]: unknown };

/**
 * Events may gain fields, which the document says by `additionalProperties`. In a type that would be an index signature,
 * which lets every misspelt field pass, so it is left out. An estimator takes the fields of its own name only: the
 * document has them in one object, since validation says more of a wrong field there; the type is one member a name.
 */
export function clientDocument(document: Json): Json {
  const copy = structuredClone(document) as { components: { schemas: Record<string, Json> } };
  const { schemas } = copy.components;
  for (const [name, schema] of Object.entries(schemas)) if (name.endsWith('Event')) closeObjects(schema);
  const local = schemas.LocalSpec as { properties: { estimator: Json } };
  local.properties.estimator = { anyOf: estimators(local.properties.estimator) };
  return copy;
}

function closeObjects(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const node = schema as Json;
  if (node.additionalProperties === true) delete node.additionalProperties;
  for (const inner of Object.values(node)) closeObjects(inner);
}

function estimators({ properties, ...rest }: Json): Json[] {
  const all = properties as Json;
  return Object.entries(ESTIMATOR_FIELDS).map(([name, fields]) => ({
    ...rest,
    properties: {
      name: { type: 'string', const: name },
      ...Object.fromEntries(fields.map((field) => [field, all[field]])),
    },
  }));
}
