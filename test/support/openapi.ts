/** An OpenAPI document, as far as references are resolved in it. */
interface Referring {
  paths?: Record<string, Record<string, { parameters?: object[]; responses: Record<string, object> }>>;
  components?: Record<string, Record<string, object>>;
}

/** A copy of the document where each operation holds its parameters and responses in place of references to them. */
export function wholeOperations<T extends object>(document: T): T {
  const copy = structuredClone(document) as T & Referring;
  const resolved = (part: object): object => {
    const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec((part as { $ref?: string }).$ref ?? '') ?? [];
    return name === undefined ? part : copy.components![kind!]![name]!;
  };
  for (const operation of Object.values(copy.paths ?? {}).flatMap((methods) => Object.values(methods))) {
    operation.parameters &&= operation.parameters.map(resolved);
    for (const [status, answer] of Object.entries(operation.responses))
      operation.responses[status] = resolved(answer);
  }
  return copy;
}
