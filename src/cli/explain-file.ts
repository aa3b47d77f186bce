import { explainRow } from '../verify/explain/explain.ts';
import { formatExplanation } from '../verify/explain/explain-text.ts';
import type { Batch } from '../verify/format/batch.ts';
import { verifyBatch } from '../verify/verify-batch.ts';
import { BatchFileError, orUnreadable, readBatchesOf, readBatchOf, type TextStreams } from './batch-files.ts';
import { EXIT } from './exit.ts';
import { json } from './output.ts';

export interface ExplainFileOptions {
  /** Name of the batch; needed only if the file holds several. */
  readonly batch?: string | undefined;
  /** Default: the first wrong row. */
  readonly row?: number | undefined;
  readonly json?: boolean | undefined;
}

/**
 * `echelon explain FILE --batch NAME --row N`: explains the advantage of a row, as text or JSON. Default: the first wrong row.
 * The exit status is 0, or 2 if the file, the batch or the row cannot be read, or no row is wrong.
 */
export function explainFile(path: string, options: ExplainFileOptions, io: TextStreams): Promise<number> {
  return orUnreadable(io, async () => {
    const { batch, row } = await placeOf(path, options);
    if (!Number.isInteger(row) || row < 0 || row >= batch.rows) {
      throw new BatchFileError(
        `${path}, batch ${batch.name}: there is no row ${row}. The rows are 0 to ${batch.rows - 1}.`,
      );
    }
    const explanation = explainRow(batch, row);
    io.stdout.write(options.json === true ? `${json(explanation)}\n` : formatExplanation(explanation));
    return EXIT.ok;
  });
}

async function placeOf(path: string, options: ExplainFileOptions): Promise<{ batch: Batch; row: number }> {
  const { batch: name, row } = options;
  if (row !== undefined) return { batch: await readBatchOf(path, name), row };
  const batches = name === undefined ? await readBatchesOf(path) : [await readBatchOf(path, name)];
  for (const batch of batches) {
    const [wrong] = verifyBatch(batch).wrongRows;
    if (wrong !== undefined) return { batch, row: wrong };
  }
  throw new BatchFileError(`${path}: no row is wrong. Give the row to explain with --row, from 0.`);
}
