import { EchelonError, type FieldProblem } from '../core/errors.ts';
import type { ExperimentSpec, ResolvedSpec } from '../engines/registry.ts';
import { specProblems } from '../engines/validate-spec.ts';
import { escapePointer } from '../schemas/json.ts';
import { createEqualChildren } from './equal-children.ts';
import { segmentsOf } from './pointer.ts';
import {
  childSpec,
  childValues,
  invalidSweep,
  type SweepChildSpec,
  type SweepDraft,
  type SweepEntry,
  withValues,
} from './sweep.ts';

/** Problems told at most. */
const MAX_PROBLEMS = 20;
/** Children that are not valid, judged at most: those after them have the same problems. */
const MAX_INVALID = 20;
/** Optional sections of a spec that may have 100 kB, which no other section depends on. */
const LONG = ['env', 'files'];

/** Judges the children of a draft one by one, and keeps what is wrong with them: each problem once. */
export function createSweepCheck(draft: SweepDraft, resolve: (spec: ExperimentSpec) => ResolvedSpec) {
  const problems = new Map<string, FieldProblem>();
  let [invalid, ofAll] = [0, false];
  const shared = sharedOf(draft);
  const equal = createEqualChildren(draft, shared);
  const problemsOf = createSpecCheck(draft, shared);

  /** The resolved spec of a child, or what is wrong with it. */
  const judged = (submitted: ExperimentSpec, index: number): ResolvedSpec | FieldProblem[] => {
    const found = problemsOf(submitted, draft.entries[index]!);
    if (found.length > 0) return found;
    try {
      const resolved = resolve(submitted);
      const same = equal.problems(resolved, index);
      return same.length > 0 ? same : resolved;
    } catch (error) {
      if (!(error instanceof EchelonError)) throw error;
      return [...error.problems];
    }
  };
  return {
    /** Children of a random sweep that repeat an earlier one. */
    repeated: equal.repeated,
    /** The child's spec; undefined if it is invalid. */
    child(index: number): SweepChildSpec | undefined {
      const submitted = childSpec(draft, draft.entries[index]!) as unknown as ExperimentSpec;
      const found = judged(submitted, index);
      if (!Array.isArray(found)) return { submitted, resolved: found };
      invalid += 1;
      for (const problem of found) {
        const placed = placedProblem(draft, index, problem);
        ofAll ||= placed.field.startsWith('/spec');
        const key = `${problem.field} ${problem.message}`;
        if (problems.size < MAX_PROBLEMS && !problems.has(key)) problems.set(key, placed);
      }
      return undefined;
    },
    /** Enough is known to stop: there are many problems, or one lies in the spec that all children share. */
    full: () => ofAll || problems.size >= MAX_PROBLEMS || invalid >= MAX_INVALID,
    /** Throws EchelonError `invalid-spec` if any child was not valid. */
    refuse(): void {
      if (problems.size > 0) throw invalidSweep([...problems.values()]);
    },
  };
}

/** The long sections that are the same in all children. */
function sharedOf({ method, axes }: SweepDraft): string[] {
  if (method === 'preset') return [];
  const changed = new Set(axes.map(({ pointer }) => segmentsOf(pointer)[0] ?? ''));
  return changed.has('') ? [] : LONG.filter((name) => !changed.has(name));
}

/** A check of children's specs that reads a long section which all share once for each engine. */
function createSpecCheck(draft: SweepDraft, shared: readonly string[]) {
  const known = new Set<unknown>();
  return (submitted: ExperimentSpec, entry: SweepEntry): FieldProblem[] => {
    const short = known.has(submitted.engine)
      ? Object.fromEntries(Object.entries(submitted).filter(([name]) => !shared.includes(name)))
      : submitted;
    // The shared spec was searched for secrets with the request.
    const found = specProblems(short, withValues({}, childValues(draft.axes, entry)));
    if (found.length === 0) known.add(submitted.engine);
    return found;
  };
}

/** A problem of a child, where in the request its remedy is: the value of an axis, or the spec that all share. */
function placedProblem(draft: SweepDraft, index: number, { field, message }: FieldProblem): FieldProblem {
  if (field.startsWith('/axes')) return { field, message };
  const said = `in child ${index}, ${field || 'its spec'}: ${message}`;
  const at = draft.axes.findIndex(({ pointer }) => field === pointer || field.startsWith(`${pointer}/`));
  const axis = draft.axes[at];
  if (axis === undefined) return { field: `/spec${field}`, message: said };
  const rest = field.slice(axis.pointer.length);
  const place = `/axes/${escapePointer(draft.keys[at]!)}`;
  const value = draft.entries[index]![at];
  return { field: axis.values ? `${place}/${value}${rest}` : place, message: said };
}
