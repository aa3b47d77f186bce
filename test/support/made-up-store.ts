import type { Store } from '../../src/store/store.ts';

/** The methods that belong to no aggregate. */
const ALONE = new Set<PropertyKey>([
  ...([
    'checkFitness',
    'installation',
    'bind',
    'pressure',
    'wake',
    'onWake',
    'close',
  ] satisfies (keyof Store)[]),
]);

/** A store each of whose methods is what `method` gives for its path, e.g. `events.append`, or `pressure`. */
export function storeOf(method: (path: string) => (...args: unknown[]) => unknown): Store {
  return new Proxy({} as Store, {
    get: (_store, part) =>
      ALONE.has(part)
        ? method(String(part))
        : new Proxy({}, { get: (_part, name) => method(`${String(part)}.${String(name)}`) }),
  });
}

/** The same store, each call of which goes through `around`. */
export function storeThrough(store: Store, around: (path: string, call: () => unknown) => unknown): Store {
  return storeOf((path) => (...args) => {
    const [part, name] = path.split('.') as [keyof Store, string | undefined];
    const owner: object = name === undefined ? store : store[part];
    const member = Reflect.get(owner, name ?? part) as (...args: unknown[]) => unknown;
    return around(path, () => member.apply(owner, args));
  });
}
