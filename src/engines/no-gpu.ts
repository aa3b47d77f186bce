import type { FieldProblem } from '../core/errors.ts';
import type { CommonSpec } from './engine.ts';

/** The problem of a spec that asks for GPUs of an engine that uses none. */
export function noGpu({ resources }: CommonSpec, message: string): FieldProblem[] {
  return (resources?.gpus ?? 0) > 0 ? [{ field: '/resources/gpus', message }] : [];
}
