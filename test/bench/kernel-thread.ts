import { parentPort, workerData } from 'node:worker_threads';
import type { HgpoParameters, StepColumns } from 'echelon-verify/kernel/index';
import { hgpo } from 'echelon-verify/kernel/index';

/** One half of a batch, and what to do with it: a message each time, answered when done. */
const { steps, stepReturn, parameters } = workerData as {
  steps: StepColumns;
  stepReturn: Float64Array;
  parameters: Partial<HgpoParameters>;
};

parentPort?.on('message', () => {
  hgpo(steps, stepReturn, parameters);
  parentPort?.postMessage('done');
});
