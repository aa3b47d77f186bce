import { withQuery } from './paths.ts';

/** The batch that a screen shows. */
export interface BatchPath {
  id: string;
  attempt: number;
  batch: number;
}

/** The batch in the parameters of a path. */
export function batchPathOf(params: Record<string, string>): BatchPath {
  return { id: params.id!, attempt: Number(params.attempt), batch: Number(params.batch) };
}

const batch = ({ id, attempt, batch }: BatchPath) => `/experiments/${id}/batches/${attempt}/${batch}`;

/** The screen of a batch, with a row explained if one is given. */
export const batchHref = (path: BatchPath, row?: number): string =>
  withQuery(batch(path), { row: row === undefined ? undefined : String(row) });

/** The screen of a trajectory, at a step if one is given. */
export const trajectoryHref = (path: BatchPath, name: string, step?: number): string =>
  withQuery(`${batch(path)}/trajectory`, { name, step: step === undefined ? undefined : String(step) });

/** The screen of the rows with the same state as this row. */
export const sameStateHref = (path: BatchPath, row: number): string =>
  withQuery(`${batch(path)}/same-state`, { row: String(row) });
