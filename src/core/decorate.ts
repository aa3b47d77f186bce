/** What is done around one call: only `call` makes it, with every argument that it was given, so none can be lost. */
type Around<Args, Result> = <R extends Result>(call: () => Promise<R>, args: Readonly<Args>) => Promise<R>;

/** What is done around calls of the asynchronous methods of `T`. */
export type Decorators<T> = {
  readonly [Name in keyof T]?: T[Name] extends (...args: infer Args) => Promise<infer Result>
    ? Around<Args, Result>
    : never;
};

/** The same object; calls of the methods in `decorators` go through those, all others through unchanged. */
export function decorate<T extends B, B extends object = T>(
  target: T,
  decorators: Decorators<NoInfer<B>>,
): T {
  const around = new Map<PropertyKey, Around<unknown[], unknown>>(Object.entries(decorators));
  return throughCalls(target, (name) => around.get(name));
}

/** The same object; calls of all its methods but those in `except` go through `around`. */
export function decorateAll<T extends object>(
  target: T,
  { except, around }: { except: ReadonlySet<PropertyKey>; around: Around<unknown[], unknown> },
): T {
  return throughCalls(target, (name) => (except.has(name) ? undefined : around));
}

function throughCalls<T extends object>(
  target: T,
  aroundOf: (name: PropertyKey) => Around<unknown[], unknown> | undefined,
): T {
  return new Proxy(target, {
    get(_target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const around = aroundOf(name);
      if (around === undefined) return member.bind(target);
      return (...args: unknown[]) => around(async () => member.apply(target, args), args);
    },
  });
}
