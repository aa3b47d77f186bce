import { createHash } from 'node:crypto';
import type { FieldProblem } from '../core/errors.ts';
import { isTree, type Tree } from '../core/trees.ts';
import type { ResolvedSpec } from '../engines/registry.ts';
import { canonicalJson, escapePointer } from '../schemas/json.ts';
import type { SweepDraft } from './sweep.ts';

/**
 * Finds children of a sweep that would be the same run, and would count as two seeds. `shared`: sections that are the same in
 * all children.
 */
export function createEqualChildren(draft: SweepDraft, shared: readonly string[]) {
  const firsts = new Map<string, number>();
  let repeated = 0;
  return {
    /** Children of a random sweep that drew the values of earlier ones: that is no mistake of the user. */
    repeated: () => repeated,
    /** What is wrong with a further child. */
    problems({ spec }: ResolvedSpec, index: number): FieldProblem[] {
      const digest = digestOfRun(spec as unknown as Tree, shared);
      const first = firsts.get(digest);
      if (first === undefined) firsts.set(digest, index);
      else if (draft.seed === null) return [problemOf(draft, first, index)];
      else repeated += 1;
      return [];
    },
  };
}

/** A digest of what a spec runs: its name changes nothing, and a program gets its parameters as texts. */
function digestOfRun(spec: Tree, shared: readonly string[]): string {
  const { name: _name, parameters, ...rest } = spec;
  const texts = isTree(parameters) && Object.entries(parameters).map(([key, value]) => [key, String(value)]);
  const own = Object.entries(rest).filter(([key]) => !shared.includes(key));
  return createHash('sha256')
    .update(canonicalJson([Object.fromEntries(own), texts]))
    .digest('base64');
}

/** The problem of a child at the value in which it is written differently from the first one. */
function problemOf({ axes, keys, entries }: SweepDraft, first: number, index: number): FieldProblem {
  const [one, other] = [entries[first]!, entries[index]!];
  const at = other.findIndex((place, axis) => place !== one[axis]);
  const message = `makes child ${index} the same run as child ${first}, and both would count as seeds; remove it, or add an axis with the seed of the program`;
  if (at < 0 || axes[at]!.values === undefined) return { field: '/axes', message };
  return { field: `/axes/${escapePointer(keys[at]!)}/${other[at]}`, message };
}
