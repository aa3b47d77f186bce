import { explainRow } from '../verify/explain.ts';
import { formatExplanation } from '../verify/explain-text.ts';
import { BatchFileError, orUnreadable, readBatchOf, type TextStreams } from './batch-files.ts';
import { EXIT } from './exit.ts';
import { json } from './output.ts';

export interface ExplainFileOptions {
  /** The batch's name; not needed where the file holds one. */
  readonly batch?: string | undefined;
  readonly row: number;
  readonly json?: boolean | undefined;
}

/**
 * `echelon explain FILE --batch NAME --row N`: why a row has its advantage, as text or JSON. Exit status: 0,
 * or 2 where the file, batch or row cannot be read.
 */
export function explainFile(path: string, options: ExplainFileOptions, io: TextStreams): Promise<number> {
  return orUnreadable(io, async () => {
    const batch = await readBatchOf(path, options.batch);
    const { row } = options;
    if (!Number.isInteger(row) || row < 0 || row >= batch.rows) {
      throw new BatchFileError(`${path}, batch ${batch.name}: has rows 0 to ${batch.rows - 1}, not ${row}`);
    }
    const explanation = explainRow(batch, row);
    io.stdout.write(options.json === true ? `${json(explanation)}\n` : formatExplanation(explanation));
    return EXIT.ok;
  });
}
