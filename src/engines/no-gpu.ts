import type { FieldProblem } from '../core/errors.ts';
import type { CommonSpec } from './engine.ts';

/** The problems of a spec that asks for GPUs, or for several nodes, of an engine that uses none. */
export function noGpu({ resources }: CommonSpec, message: string): FieldProblem[] {
  const { gpus = 0, nodes = 1 } = resources ?? {};
  return [
    ...(gpus > 0 ? [{ field: '/resources/gpus', message }] : []),
    ...(nodes > 1
      ? [{ field: '/resources/nodes', message: 'must be 1: only verl-agent runs on several nodes' }]
      : []),
  ];
}
