/** An object that is read key by key. */
export type Tree = { readonly [key: string]: unknown };

/** `given` over `defaults`, at any depth; an array counts as one value. Neither is changed, and no default is shared. */
export function merge(defaults: Tree, given: Tree): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const [key, below] of Object.entries(defaults)) merged[key] = copied(below);
  for (const [key, value] of Object.entries(given)) {
    const below = defaults[key];
    merged[key] = isTree(value) && isTree(below) ? merge(below, value) : value;
  }
  return merged;
}

/** Several times as fast as structuredClone, for plain JSON. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  return isTree(value) ? merge(value, {}) : value;
}

/** JSON pointers of the leaves that `resolved` has and `given` does not. */
export function missingFrom(given: unknown, resolved: Tree, at = ''): string[] {
  const had = isTree(given) ? given : {};
  return Object.entries(resolved).flatMap(([key, value]) => {
    if (isTree(value)) return missingFrom(had[key], value, `${at}/${key}`);
    return Object.hasOwn(had, key) ? [] : [`${at}/${key}`];
  });
}

/** The value at a path such as `rollout.groups`; undefined if absent. */
export function valueAt(tree: unknown, path: string): unknown {
  let value = tree;
  for (const key of path.split('.')) {
    if (!isTree(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Whether a value is an object that is read key by key, and no array. */
export function isTree(value: unknown): value is Tree {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
