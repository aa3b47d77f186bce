import type { Tree } from '../core/trees.ts';
import { escapePointer } from '../schemas/json.ts';

const POLLUTING = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_SEGMENTS = 16;

/** A place in a spec as JSON pointer: `/training/seed` as it is, `training.seed` rewritten. */
export function toPointer(place: string): string {
  return place.startsWith('/') ? place : `/${place.split('.').map(escapePointer).join('/')}`;
}

/** The keys of a JSON pointer. */
export function segmentsOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Why nothing can be written at a place of a spec; undefined if it can. */
export function placeProblem(spec: unknown, pointer: string): string | undefined {
  const parts = segmentsOf(pointer);
  if (parts.some((part) => part === '' || POLLUTING.has(part)) || parts.length > MAX_SEGMENTS)
    return 'is not a path in a spec; write /training/seed or training.seed';
  let at: unknown = spec;
  for (const part of parts.slice(0, -1)) {
    if (at === undefined) return undefined;
    at = Object.hasOwn(at as object, part) ? (at as Tree)[part] : undefined;
    if (at !== undefined && (at === null || typeof at !== 'object' || Array.isArray(at)))
      return `is no place in this spec: ${part} is no object there`;
  }
  return undefined;
}

/**
 * A spec with a value at a place that has no {@link placeProblem}; objects on the way are made. Only the objects on the way
 * are copied, so that specs that differ in few places share the rest.
 */
export function written(spec: Tree, pointer: string, value: unknown): Record<string, unknown> {
  const write = (at: Tree, [part, ...below]: readonly string[]): Record<string, unknown> => ({
    ...at,
    [part!]: below.length === 0 ? value : write(Object.hasOwn(at, part!) ? (at[part!] as Tree) : {}, below),
  });
  return write(spec, segmentsOf(pointer));
}
