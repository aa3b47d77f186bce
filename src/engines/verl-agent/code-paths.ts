import type { FieldProblem } from '../../core/errors.ts';
import { isBelow } from '../below-directories.ts';
import type { VerlAgentSpec } from './spec.ts';

/**
 * Fields of a spec that name a directory on the cluster from which code is loaded: the checkout, and models that are no
 * names of a hub. Such a directory must be one of `allowed` or below one. Pure; symbolic links are the cluster's affair.
 */
export function codePathProblems(spec: VerlAgentSpec, allowed: readonly string[]): FieldProblem[] {
  const named = [
    { field: '/home', path: spec.home },
    { field: '/model/path', path: spec.model?.path },
    { field: '/critic/path', path: spec.critic?.path },
  ];
  return named
    .filter(({ path }) => path !== undefined && leadsToDirectory(path) && !isBelow(path, allowed))
    .map(({ field }) => ({
      field,
      message:
        'names a directory from which code is loaded: that needs a key with the scope custom-code, or a directory that an administrator has allowed for the cluster',
    }));
}

function leadsToDirectory(path: string): boolean {
  return /^[/.~]/.test(path);
}
