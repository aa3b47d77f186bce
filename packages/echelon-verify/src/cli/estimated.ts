/** The advantages of the batches in a folder, for the optimizer steps that train their rows. */

import { dirname } from 'node:path';
import type { Batch } from '../format/batch.ts';
import type { Estimated, FindEstimated } from '../step/stages/row-checks.ts';

/** The batches of all files that were read. */
export interface EstimatedBatches {
  add(file: string, batch: Batch): void;
  /** The batches of the folder of a file. */
  beside(file: string): FindEstimated;
}

/** No batches at first. */
export function createEstimated(): EstimatedBatches {
  const folders = new Map<string, Map<string, Estimated[]>>();
  return {
    add(file, { provenance, trajectory, trajectoryNames, reportedAdvantage }) {
      if (provenance?.trainingStep === undefined || reportedAdvantage === undefined) return;
      const own = folders.get(dirname(file)) ?? new Map<string, Estimated[]>();
      folders.set(dirname(file), own);
      const step = String(provenance.trainingStep);
      const rows = new Map(
        Array.from(trajectory, (id, row): [string, number] => [
          trajectoryNames[id]!,
          reportedAdvantage[row]!,
        ]),
      );
      own.set(step, [...(own.get(step) ?? []), { rows }]);
    },
    beside: (file) => (step) => folders.get(dirname(file))?.get(step) ?? [],
  };
}
