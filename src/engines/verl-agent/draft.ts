import type { Change, Correction } from '../engine.ts';
import { type HydraValue, hydraText, readHydraText } from './hydra.ts';
import { mergedDefault } from './merged-config.ts';

/** The overrides of a script while a plan changes them: keys keep their place, new ones come last. */
export interface Draft {
  /**
   * Sets a key unless it already means that value: a script's own spelling (`1e-6`, `1.0`) stays, and a default of the
   * configuration is not written out. null leaves the key out. Without a reason it is a wish of the spec.
   */
  set(key: string, value: HydraValue | null, reason?: string): void;
  /** What is passed for a key, else its default; null if unset. */
  value(key: string): HydraValue | null;
  /** `key=value`, in order. */
  overrides(): string[];
  /** Keys and texts, in order. */
  entries(): [key: string, text: string][];
  /** What the spec asked to differ from the script. */
  changes(): Change[];
  /** What the plan itself makes differ from the script. */
  corrections(): Correction[];
}

/** A draft that starts from what a script passes. */
export function createDraft(script: readonly (readonly [key: string, text: string])[]): Draft {
  const original = new Map(script);
  const current = new Map(script);
  const reasons = new Map<string, string>();
  const differing = (): Change[] =>
    [...new Set([...original.keys(), ...current.keys()])]
      .map((key) => ({ key, from: original.get(key) ?? null, to: current.get(key) ?? null }))
      .filter(({ from, to }) => from !== to);
  const value = (key: string): HydraValue | null =>
    readHydraText(current.get(key) ?? mergedDefault(key) ?? 'null');
  return {
    value,
    set(key, wanted, reason) {
      if (same(value(key), wanted)) return;
      if (wanted === null || (!original.has(key) && same(readHydraText(mergedDefault(key) ?? ''), wanted))) {
        current.delete(key);
      } else {
        current.set(key, hydraText(wanted));
      }
      if (reason !== undefined) reasons.set(key, reason);
    },
    overrides: () => [...current].map(([key, text]) => `${key}=${text}`),
    entries: () => [...current],
    changes: () => differing().filter(({ key }) => !reasons.has(key)),
    corrections: () =>
      differing().flatMap((change) => {
        const reason = reasons.get(change.key);
        return reason === undefined ? [] : [{ ...change, reason }];
      }),
  };
}

/** Whether two values of the configuration are equal. */
export function same(left: HydraValue | null, right: HydraValue | null): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
