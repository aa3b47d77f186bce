/** The tokens of a batch, in files and on the wire. */

import type { Precision } from '../arithmetic/arithmetic.ts';
import { present } from '../base/present.ts';
import { TOKEN_COLUMNS, type TokenColumnName } from '../kernel/stages/token-sequences.ts';
import type { TokenColumns } from './batch.ts';
import { MAX_TOKENS } from './batch.ts';
import type { Place } from './json-columns.ts';
import {
  faultAt,
  flagColumn,
  float32Column,
  integerColumn,
  invalidAt,
  numberColumn,
} from './json-columns.ts';
import type { JsonObject } from './json-params.ts';

/** The keys of `tokens` in a file. */
export const TOKEN_KEYS = ['offset', 'mask', ...TOKEN_COLUMNS, 'reportedAdvantage'];

/** A value for each column of inputs. */
export function ofTokenColumns<V>(of: (name: TokenColumnName) => V): Record<TokenColumnName, V> {
  return Object.fromEntries(TOKEN_COLUMNS.map((name) => [name, of(name)])) as Record<TokenColumnName, V>;
}

/** Reads `tokens` of a file. Throws a BatchFormatError for anything that is not as {@link TokenColumns} says. */
export function readTokens(
  place: Place,
  tokens: JsonObject,
  { rows, precision }: { readonly rows: number; readonly precision: Precision },
): TokenColumns {
  const range = { rows: rows + 1, largest: MAX_TOKENS };
  const offset = integerColumn(place, 'tokens.offset', tokens.offset, range);
  if (offset === undefined) throw invalidAt(place, 'tokens.offset', `${rows + 1} integers`, tokens.offset);
  checkOffset(place, 'tokens.offset', offset);
  const count = offset[rows]!;
  const reported = precision === 'float64' ? numberColumn : float32Column;
  return {
    offset,
    ...present({
      mask: flagColumn(place, 'tokens.mask', tokens.mask, count),
      ...ofTokenColumns((name) => numberColumn(place, `tokens.${name}`, tokens[name], count)),
      reportedAdvantage: reported(place, 'tokens.reportedAdvantage', tokens.reportedAdvantage, count),
    }),
  };
}

/** Throws a BatchFormatError unless the offsets start at 0 and never decrease. */
export function checkOffset(place: Place, field: string, offset: Int32Array): void {
  offset.forEach((at, row) => {
    const least = row === 0 ? 0 : offset[row - 1]!;
    if (row === 0 ? at === 0 : at >= least) return;
    const expected = row === 0 ? '0, the start of row 0' : `${least} or more, where row ${row - 1} starts`;
    throw faultAt(place, { code: 'invalid', field: `${field}[${row}]`, expected, found: String(at) });
  });
}

/** One advantage for each row if all its tokens of the mask have the same; undefined if some have not. */
export function constantAdvantage({
  offset,
  mask,
  reportedAdvantage,
}: TokenColumns): Float64Array | undefined {
  if (mask === undefined || reportedAdvantage === undefined) return undefined;
  const rows = offset.length - 1;
  const own = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let seen = false;
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (mask[t] === 0) continue;
      if (seen && !Object.is(own[row], reportedAdvantage[t])) return undefined;
      own[row] = reportedAdvantage[t]!;
      seen = true;
    }
  }
  return own;
}
