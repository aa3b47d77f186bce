import type { Store } from '../../src/store/store.ts';

type Parts = {
  [Name in keyof Store]?: Store[Name] extends (...args: never) => unknown
    ? Store[Name]
    : Partial<Store[Name]>;
};

/** A store with these methods alone, for code that calls no others. */
export function partialStore(parts: Parts): Store {
  return parts as Store;
}
