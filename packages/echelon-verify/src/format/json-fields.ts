/** Single fields of a JSON object, with the place of each in messages. */

import { nearestName } from 'command-kit/nearest';
import type { Place } from './json-columns.ts';
import { faultAt, invalidAt } from './json-columns.ts';
import { isObject, type JsonObject } from './json-params.ts';

/** The text at `field`; undefined if it is omitted or null. Throws a BatchFormatError for anything else. */
export function textOf(place: Place, from: JsonObject, field: string, prefix = ''): string | undefined {
  const value = from[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidAt(place, `${prefix}${field}`, 'a text', value);
  return value;
}

/** The object at `field`; undefined if it is omitted or null. Throws a BatchFormatError for anything else. */
export function objectOf(place: Place, from: JsonObject, field: string, prefix = ''): JsonObject | undefined {
  const value = from[field];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalidAt(place, `${prefix}${field}`, 'an object', value);
  return value;
}

/** A key that is nearly one of the format's would silently be a column that the batch does not have. */
export function refuseSlips(place: Place, prefix: string, object: JsonObject, keys: readonly string[]): void {
  for (const key of Object.keys(object)) {
    if (keys.includes(key)) continue;
    const near = nearestName(key, keys);
    if (near === undefined) continue;
    const expected = `no such key (did you mean ${prefix}${near}?)`;
    throw faultAt(place, { code: 'bad-key', field: `${prefix}${key}`, expected });
  }
}
