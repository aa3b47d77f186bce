import { createHash } from 'node:crypto';
import { EchelonError, type FieldProblem } from '../core/errors.ts';
import { MAX_CHILDREN } from '../core/ids.ts';
import { customCodeOf, type ExperimentSpec, type ResolvedSpec } from '../engines/registry.ts';
import { countInWords, invalidSpec } from '../engines/validate-spec.ts';
import { clip, escapePointer } from '../schemas/json.ts';
import { plainSecretProblems } from '../schemas/secrets.ts';
import type { Sweep, SweepAxis, SweepRange, SweepRequest } from '../schemas/sweep.ts';
import { neverStops } from './early-stopping.ts';
import { placeProblem, segmentsOf, toPointer, written } from './pointer.ts';
import { resolveSpec } from './resolve-spec.ts';
import { valueInWords } from './sweep-names.ts';

/** What the children of a sweep are made from: stored once, with the entries of all children beside it. */
export interface SweepBase {
  name: string;
  spec: unknown;
  axes: readonly SweepAxis[];
  /** `preset`: each child has a spec of its own, at the place that its entry ends with. */
  method?: Sweep['method'];
}

/**
 * The values of one child, one number for each axis: the place of its value among the axis's values, or the number
 * that was drawn from its range.
 */
export type SweepEntry = readonly number[];

/** A sweep that is well formed; whether its children are valid is still to be seen. */
export interface SweepDraft extends SweepBase {
  seed: number | null;
  /** The places as they were written. */
  keys: readonly string[];
  entries: SweepEntry[];
}

/** A child's spec, resolved. */
export interface SweepChildSpec {
  submitted: ExperimentSpec;
  resolved: ResolvedSpec;
}

/** Figures of a drawn number: what is read in a table is then what was run. */
const FIGURES = 6;
const LONGEST_NAME = 100;

/**
 * Places, values and number of children of a request. Throws EchelonError `invalid-spec` that names each axis and its
 * remedy: a place that cannot be written to, or is set twice; lists of unequal length; a range outside of random;
 * more than 10,000 children.
 */
export function draftSweep(request: SweepRequest): SweepDraft {
  const secrets = plainSecretProblems(request);
  if (secrets.length > 0) throw invalidSweep(secrets);
  const problems: FieldProblem[] = [];
  const axes = Object.entries(request.axes).map(([key, given]): SweepAxis => {
    const axis = {
      pointer: toPointer(key),
      ...(Array.isArray(given) ? { values: given } : { range: given }),
    };
    problems.push(...axisProblems(axis, key, request));
    return axis;
  });
  problems.push(...overlaps(axes), ...methodProblems(request, axes));
  if (problems.length > 0) throw invalidSweep(problems);
  const seed = request.method === 'random' ? (request.seed ?? 1) : null;
  const base = { name: request.name, spec: request.spec, axes };
  const keys = Object.keys(request.axes);
  const entries = entriesOf(request, axes, seed ?? 0);
  const never = request.earlyStopping && neverStops(request.earlyStopping, entries.length);
  if (never) throw invalidSweep([never]);
  return { ...base, seed, keys, entries };
}

/** A child's values, by JSON pointer. */
export function childValues(axes: readonly SweepAxis[], entry: SweepEntry): Record<string, unknown> {
  return Object.fromEntries(
    axes.map(({ pointer, values }, at) => [pointer, values ? values[entry[at]!] : entry[at]!]),
  );
}

/** A child's spec as it is submitted: the shared one with the child's values, named after them unless it has a name. */
export function childSpec(base: SweepBase, entry: SweepEntry): Record<string, unknown> {
  if (base.method === 'preset') {
    const { children } = base.spec as { children: readonly { spec: Record<string, unknown> }[] };
    return children[entry.at(-1)!]!.spec;
  }
  const values = childValues(base.axes, entry);
  const named = '/name' in values ? values : { ...values, '/name': childName(base.name, values, entry) };
  return withValues(base.spec as Record<string, unknown>, named);
}

/** A spec with values at places. What it shares with the given spec is not copied. */
export function withValues(
  spec: Record<string, unknown>,
  values: Record<string, unknown>,
): Record<string, unknown> {
  return Object.entries(values).reduce((made, [pointer, value]) => written(made, pointer, value), spec);
}

/**
 * A child of a sweep that was accepted, as an experiment. What the spec may name was judged when it was accepted, so
 * it is not judged again. `cluster`: for a spec that names none. Throws only where a check of the children would have told
 * a problem.
 */
export function makeChild(base: SweepBase, entry: SweepEntry, cluster?: string) {
  const given = childSpec(base, entry) as unknown as ExperimentSpec;
  const submitted = cluster === undefined ? given : { cluster, ...given };
  const { spec, defaults } = resolveSpec(submitted, { customCode: true });
  return {
    name: spec.name,
    priority: spec.priority,
    priorityClass: spec.priorityClass,
    cluster: spec.cluster,
    gpus: spec.resources.gpus * (spec.resources.nodes ?? 1),
    cpus: spec.resources.cpus,
    submitted,
    resolved: spec,
    defaults,
    customCode: customCodeOf(submitted),
  };
}

/** The error of a sweep with these problems (at least one). */
export function invalidSweep(problems: FieldProblem[]): EchelonError {
  const { problems: kept, code } = invalidSpec(problems);
  const count = countInWords(kept);
  return new EchelonError(code, `The sweep has ${count}; nothing was created.`, { problems: [...kept] });
}

function axisProblems({ pointer, range }: SweepAxis, key: string, request: SweepRequest): FieldProblem[] {
  const field = `/axes/${escapePointer(key)}`;
  const problem = (message: string) => [{ field, message }];
  if (pointer === '/project' || pointer.startsWith('/project/')) {
    return problem('cannot be an axis: a sweep belongs to one project; set it in the spec');
  }
  const misplaced = placeProblem(request.spec, pointer);
  if (misplaced !== undefined) return problem(misplaced);
  if (range === undefined) return [];
  if (request.method !== 'random') return problem('must be a list of values; ranges are for random sweeps');
  if (range.min > range.max) return problem('must have a min that is not above its max');
  if (range.scale === 'log' && range.min <= 0) return problem('must have a min above 0 for the scale log');
  if (range.integer && Math.ceil(range.min) > Math.floor(range.max)) {
    return problem('must have a whole number between min and max');
  }
  return [];
}

function overlaps(axes: readonly SweepAxis[]): FieldProblem[] {
  return axes.flatMap(({ pointer }, at) =>
    axes
      .slice(0, at)
      .filter(
        (other) =>
          `${pointer}/`.startsWith(`${other.pointer}/`) || `${other.pointer}/`.startsWith(`${pointer}/`),
      )
      .map((other) => ({
        field: '/axes',
        message: `${pointer} and ${other.pointer} write to the same place; keep one of them`,
      })),
  );
}

function methodProblems(request: SweepRequest, axes: readonly SweepAxis[]): FieldProblem[] {
  const { method, count, seed } = request;
  const lengths = axes.map(({ values }) => values?.length ?? 1);
  if (method === 'random') {
    return count === undefined
      ? [{ field: '/count', message: 'is missing; it must say how many children are drawn' }]
      : [];
  }
  const problems: FieldProblem[] = [];
  const only = 'is for random sweeps only; remove it';
  if (count !== undefined) problems.push({ field: '/count', message: only });
  if (seed !== undefined) problems.push({ field: '/seed', message: only });
  if (method === 'list' && new Set(lengths).size > 1) {
    const found = axes.map(({ pointer }, at) => `${pointer} has ${lengths[at]}`).join(', ');
    problems.push({
      field: '/axes',
      message: `must have lists of one length for the method list, but ${found}`,
    });
  }
  const children = method === 'grid' ? lengths.reduce((product, length) => product * length, 1) : 0;
  if (children > MAX_CHILDREN) {
    problems.push({
      field: '/axes',
      message: `gives ${children} children; a sweep has ${MAX_CHILDREN} at most`,
    });
  }
  return problems;
}

function entriesOf({ method, count }: SweepRequest, axes: readonly SweepAxis[], seed: number): SweepEntry[] {
  if (method === 'random') {
    return Array.from({ length: count! }, (_child, index) => axes.map((axis) => draw(axis, seed, index)));
  }
  if (method === 'list') return axes[0]!.values!.map((_value, index) => axes.map(() => index));
  let entries: number[][] = [[]];
  for (const { values } of axes)
    entries = entries.flatMap((entry) => values!.map((_value, at) => [...entry, at]));
  return entries;
}

/** Depends on seed, place and child only: adding an axis changes no draw of another. */
function draw({ pointer, values, range }: SweepAxis, seed: number, index: number): number {
  const bits = createHash('sha256').update(`${seed} ${index} ${pointer}`).digest().readBigUInt64BE();
  const unit = Number(bits >> 11n) / 2 ** 53;
  return values ? Math.floor(unit * values.length) : drawFrom(range!, unit);
}

function drawFrom({ min, max, scale, integer }: SweepRange, unit: number): number {
  const low = integer ? Math.ceil(min) : min;
  // Each whole number has the same share; on a log scale each has that of its interval.
  const high = integer ? Math.floor(max) + 1 : max;
  const drawn = scale === 'log' ? low * (high / low) ** unit : low + (high - low) * unit;
  const rounded = integer ? Math.floor(drawn) : Number(drawn.toPrecision(FIGURES));
  return Math.min(integer ? Math.floor(max) : max, Math.max(low, rounded)) + 0;
}

/** A name that is too long to show all values ends with a digest of them, so that no two children share it. */
function childName(sweep: string, values: Record<string, unknown>, entry: SweepEntry): string {
  const parts = Object.entries(values).map(([pointer, value]) => {
    return `${segmentsOf(pointer).at(-1)}=${valueInWords(value)}`;
  });
  const text = `${sweep}: ${parts.join(', ')}`.replace(/\p{Cc}/gu, ' ');
  if (text.length <= LONGEST_NAME) return text;
  const digest = createHash('sha256').update(JSON.stringify(entry)).digest('hex').slice(0, 8);
  return `${clip(text, LONGEST_NAME - digest.length - 3)} #${digest}`;
}
