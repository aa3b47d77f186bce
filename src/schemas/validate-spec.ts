import { EchelonError, type FieldProblem } from '../core/errors.ts';
import { nearestName } from '../core/nearest.ts';
import { type Check, createCheck } from './check.ts';
import { MAX_PROBLEMS } from './field-problems.ts';
import { clip } from './json.ts';
import { plainSecretProblems } from './secrets.ts';
import { type ExperimentSpec, SPEC_BY_ENGINE } from './spec.ts';

type Engine = keyof typeof SPEC_BY_ENGINE;

const ENGINES = Object.keys(SPEC_BY_ENGINE) as Engine[];

const checks = new Map<Engine, Check>();

/**
 * What is wrong with a spec, each with a JSON pointer and the mend; empty where nothing is. The engine decides
 * first which schema counts, so that problems are those of one engine.
 */
export function specProblems(input: unknown): FieldProblem[] {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) {
    return [{ field: '', message: 'must be an object: an experiment spec' }];
  }
  // First and alone: other problems quote what they found.
  const secrets = plainSecretProblems(input);
  if (secrets.length > 0) return secrets;
  const engine = Object.hasOwn(input, 'engine') ? (input as { engine: unknown }).engine : undefined;
  if (typeof engine !== 'string' || !isEngine(engine)) return [engineProblem(engine)];
  return checkOf(engine)(input);
}

/** The input as a spec. Throws EchelonError `invalid-spec` with the problems of {@link specProblems}. */
export function validateSpec(input: unknown): ExperimentSpec {
  const problems = specProblems(input);
  if (problems.length > 0) throw invalidSpec(problems);
  return input as ExperimentSpec;
}

/** The error of a spec with these problems (at least one). */
export function invalidSpec(problems: FieldProblem[]): EchelonError {
  return new EchelonError('invalid-spec', `The experiment spec has ${countInWords(problems)}.`, { problems });
}

/** `one problem`; at the limit of those that are told, that there may be more. */
export function countInWords({ length }: readonly FieldProblem[]): string {
  if (length === 1) return 'one problem';
  return length < MAX_PROBLEMS ? `${length} problems` : `${length} problems or more; these are the first`;
}

function isEngine(name: string): name is Engine {
  return Object.hasOwn(SPEC_BY_ENGINE, name);
}

function engineProblem(engine: unknown): FieldProblem {
  const list = ENGINES.join(' or ');
  if (engine === undefined) return { field: '/engine', message: `is missing; it must be ${list}` };
  const near = typeof engine === 'string' ? nearestName(engine, ENGINES) : undefined;
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const came = shortened(engine);
  return { field: '/engine', message: `must be ${list}, but ${came} came${hint}` };
}

function shortened(engine: unknown): string {
  if (typeof engine === 'object' && engine !== null) return Array.isArray(engine) ? 'an array' : 'an object';
  return clip(JSON.stringify(typeof engine === 'string' ? engine.slice(0, 200) : engine));
}

function checkOf(engine: Engine): Check {
  let check = checks.get(engine);
  if (check === undefined) {
    check = createCheck(SPEC_BY_ENGINE[engine]);
    checks.set(engine, check);
  }
  return check;
}
