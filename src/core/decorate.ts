/** What is done around one call: only `call` makes it, with every argument that it was given, so none can be lost. */
type Around<Args, Result> = <R extends Result>(call: () => Promise<R>, args: Readonly<Args>) => Promise<R>;

/** What is done around calls of the asynchronous methods of `T` and of its parts. */
export type Decorators<T> = {
  readonly [Name in keyof T]?: T[Name] extends (...args: infer Args) => Promise<infer Result>
    ? Around<Args, Result>
    : T[Name] extends (...args: never) => unknown
      ? never
      : Decorators<T[Name]>;
};

type AnyAround = Around<unknown[], unknown>;

/** The same object; calls of the methods in `decorators` go through those, all others through unchanged. */
export function decorate<T extends B, B extends object = T>(
  target: T,
  decorators: Decorators<NoInfer<B>>,
): T {
  const around = new Map(pathsOf(decorators, ''));
  return throughCalls(target, '', (path) => around.get(path));
}

/** The same object; calls of all its methods but those in `except` go through `around`. A path: `part.method`. */
export function decorateAll<T extends object>(
  target: T,
  { except, around }: { except: ReadonlySet<string>; around: AnyAround },
): T {
  return throughCalls(target, '', (path) => (except.has(path) ? undefined : around));
}

function pathsOf(decorators: object, parent: string): [path: string, around: AnyAround][] {
  return Object.entries(decorators).flatMap(([name, member]) =>
    typeof member === 'function'
      ? [[`${parent}${name}`, member as AnyAround]]
      : pathsOf(member as object, `${parent}${name}.`),
  );
}

function throughCalls<T extends object>(
  target: T,
  parent: string,
  aroundOf: (path: string) => AnyAround | undefined,
): T {
  const parts = new Map<PropertyKey, object>();
  return new Proxy(target, {
    get(_target, name) {
      const member: unknown = Reflect.get(target, name);
      const path = `${parent}${String(name)}`;
      if (typeof member === 'object' && member !== null) {
        const part = parts.get(name) ?? throughCalls(member, `${path}.`, aroundOf);
        parts.set(name, part);
        return part;
      }
      if (typeof member !== 'function') return member;
      const around = aroundOf(path);
      if (around === undefined) return member.bind(target);
      return (...args: unknown[]) => around(async () => member.apply(target, args), args);
    },
  });
}
