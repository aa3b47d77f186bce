import { Document, isScalar, visit } from 'yaml';

/**
 * A resolved spec as YAML with a comment after each default. `defaults` are the JSON pointers of the defaults; a pointer
 * covers everything below it.
 */
export function resolvedYaml(spec: object, defaults: readonly string[]): string {
  const filled = new Set(defaults);
  const first = ['name', 'engine', 'estimator'].flatMap((key) =>
    Object.entries(spec).filter(([k]) => k === key),
  );
  const document = new Document({ ...Object.fromEntries(first), ...spec });
  visit(document, {
    Pair(_key, pair, path) {
      const keys = [...path.flatMap((node) => ('key' in node ? [node] : [])), pair].map(({ key }) => key);
      const names = keys.map((key) =>
        String(isScalar(key) ? key.value : key)
          .replace(/~/g, '~0')
          .replace(/\//g, '~1'),
      );
      const isDefault = names.some((_name, at) => filled.has(`/${names.slice(0, at + 1).join('/')}`));
      if (isDefault && isScalar(pair.value)) pair.value.comment = ' default';
    },
  });
  return document.toString({ lineWidth: 0 }).trimEnd();
}
