import type { Answer } from 'echelon-client/calls';
import { ApiError } from 'echelon-client/errors';
import { api } from '../../app/api.ts';
import { type Problem, readSpec } from '../../models/spec.ts';

/** The plan of a spec. */
export type Plan = Answer<'post', '/v1/plans'>;

/** The children of a sweep, and the spec of the first. */
export type SweepPreview = Answer<'post', '/v1/sweeps/preview'>;

/** The problems of a text, and without problems its spec and plan; of a sweep, its request and children. */
interface Checked {
  problems: Problem[];
  spec?: Record<string, unknown>;
  lineOf?: (pointer: string) => number;
  plan?: Plan;
  sweep?: SweepPreview;
}

/** Checks a text as a submission would. */
export async function check(text: string): Promise<Checked> {
  const read = await readSpec(text);
  if ('problem' in read) return { problems: [read.problem] };
  try {
    if ('axes' in read.spec) {
      const sweep = await api.post('/v1/sweeps/preview', { body: read.spec as never });
      return { problems: [], ...read, sweep };
    }
    const plan = await api.post('/v1/plans', { body: read.spec as never });
    return { problems: [], ...read, plan };
  } catch (error) {
    return { problems: problemsOf(error, read.lineOf) };
  }
}

/** The problems that an error names, with their lines in the text. */
export function problemsOf(error: unknown, lineOf?: (pointer: string) => number): Problem[] {
  if (!(error instanceof ApiError) || error.problems.length === 0)
    return [{ field: '', message: (error as Error).message }];
  return error.problems.map((problem) => ({ ...problem, line: lineOf?.(problem.field) }));
}
