/** What another program asks about one batch, and the answers, which are plain JSON. */

import { explainRow, type RowExplanation } from '../explain/explain.ts';
import { formatExplanation } from '../explain/explain-text.ts';
import { type RowColumns, rowColumns } from '../explain/row-columns.ts';
import { decodeBatch } from '../format/batch-wire.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { KNOWN_FORMS } from '../identify/fingerprints.ts';
import type { AnyParameters } from '../kernel/estimators/parameters.ts';
import { verifyWithin } from '../pool/verify-upload.ts';
import type { BatchReport } from '../report/report.ts';

/** A request; the batch of `verify`, `explain` and `rows` comes in the frame after it, as protobuf. */
export type Request =
  | { readonly name: 'forms' }
  | { readonly name: 'verify'; readonly budgetBytes: number }
  | { readonly name: 'explain'; readonly row: number }
  | { readonly name: 'rows' };

/** A row's explanation, also as text. */
export interface Explained {
  readonly row: RowExplanation;
  readonly text: string;
}

/** The report of a batch, with the explanation of its first wrong row. */
export interface Verified {
  readonly report: BatchReport;
  readonly explained: Explained | null;
}

/** The estimator and the parameters that are not its defaults, by the id of a known form, such as `trl/grpo`. */
export type Forms = Readonly<Record<string, { readonly estimator: string; readonly params: AnyParameters }>>;

/** The answer, or why there is none; `invalid` says that the request, and not the verifier, is at fault. */
export type Response =
  | { readonly answer: Verified | Explained | RowColumns | Forms; readonly rssBytes: number }
  | { readonly problem: string; readonly invalid: boolean; readonly rssBytes: number };

/** True if the request is followed by a batch. */
export const hasBatch = ({ name }: Request): boolean => name !== 'forms';

/** Carries out a request. `wire` is the batch, empty for a request without one. Never throws. */
export function respond(request: Request, wire: Uint8Array): Response {
  try {
    return { answer: answerOf(request, wire), rssBytes: process.memoryUsage.rss() };
  } catch (error) {
    const invalid = error instanceof BatchFormatError || error instanceof RangeError;
    const problem = invalid ? error.message : ((error as Error).stack ?? String(error));
    return { problem, invalid, rssBytes: process.memoryUsage.rss() };
  }
}

function answerOf(request: Request, wire: Uint8Array): Verified | Explained | RowColumns | Forms {
  switch (request.name) {
    case 'forms':
      return Object.fromEntries(KNOWN_FORMS.map(({ id, estimator, params }) => [id, { estimator, params }]));
    case 'verify': {
      const batch = decodeBatch(wire);
      const report = verifyWithin(request.budgetBytes, batch, wire.byteLength);
      const [first] = report.wrongRows;
      return { report, explained: first === undefined ? null : explained(explainRow(batch, first)) };
    }
    case 'explain':
      return explained(explainRow(decodeBatch(wire), request.row));
    case 'rows':
      return rowColumns(decodeBatch(wire), { first: 0, count: Number.POSITIVE_INFINITY });
    default:
      throw new RangeError(`no request ${JSON.stringify(request satisfies never)}`);
  }
}

const explained = (row: RowExplanation): Explained => ({ row, text: formatExplanation(row) });
