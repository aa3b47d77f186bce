import { EchelonError, type FieldProblem } from '../core/errors.ts';
import { type Check, createCheck } from '../schemas/check.ts';
import { MAX_PROBLEMS } from '../schemas/field-problems.ts';
import { plainSecretProblems } from '../schemas/secrets.ts';
import { type ExperimentSpec, engineProblem, findEngine, type RegisteredEngine } from './registry.ts';

const checks = new WeakMap<RegisteredEngine, Check>();

/**
 * What is wrong with a spec, each with a JSON pointer and the remedy; empty if the spec is valid. The engine decides
 * first which schema counts, so that problems are those of one engine. `searched`: what of the spec is searched for plain
 * secrets; by default all of it.
 */
export function specProblems(input: unknown, searched = input): FieldProblem[] {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) {
    return [{ field: '', message: 'must be an object: an experiment spec' }];
  }
  // First and alone: other problems quote what they found.
  const secrets = plainSecretProblems(searched);
  if (secrets.length > 0) return secrets;
  const name = Object.hasOwn(input, 'engine') ? (input as { engine: unknown }).engine : undefined;
  const engine = findEngine(name);
  return engine === undefined ? [engineProblem(name)] : checkOf(engine)(input);
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

/** `one problem`; at the limit of listed problems, that there may be more. */
export function countInWords({ length }: readonly FieldProblem[]): string {
  if (length === 1) return 'one problem';
  return length < MAX_PROBLEMS ? `${length} problems` : `${length} problems or more; these are the first`;
}

function checkOf(engine: RegisteredEngine): Check {
  let check = checks.get(engine);
  if (check === undefined) {
    check = createCheck(engine.schema);
    checks.set(engine, check);
  }
  return check;
}
