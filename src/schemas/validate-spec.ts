import { Ajv, type ValidateFunction } from 'ajv';
import { EchelonError, type FieldProblem } from '../core/errors.ts';
import { toFieldProblems } from './field-problems.ts';
import { clip } from './json.ts';
import { nearestName } from './nearest.ts';
import { plainSecretProblems } from './secrets.ts';
import { type ExperimentSpec, SPEC_BY_ENGINE } from './spec.ts';

type Engine = keyof typeof SPEC_BY_ENGINE;

const ENGINES = Object.keys(SPEC_BY_ENGINE) as Engine[];

/** Nothing is coerced, dropped or filled in: what does not fit is refused. */
export const STRICT_AJV = {
  strict: true,
  allErrors: true,
  verbose: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  ownProperties: true,
} as const;

const validators = new Map<Engine, ValidateFunction>();

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
  const validate = validatorOf(engine);
  return validate(input) ? [] : toFieldProblems(validate.errors ?? [], SPEC_BY_ENGINE[engine]);
}

/** The input as a spec. Throws EchelonError `invalid-spec` with the problems of {@link specProblems}. */
export function validateSpec(input: unknown): ExperimentSpec {
  const problems = specProblems(input);
  if (problems.length > 0) throw invalidSpec(problems);
  return input as ExperimentSpec;
}

/** The error of a spec with these problems (at least one). */
export function invalidSpec(problems: FieldProblem[]): EchelonError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return new EchelonError('invalid-spec', `The experiment spec has ${count}.`, { problems });
}

function isEngine(name: string): name is Engine {
  return Object.hasOwn(SPEC_BY_ENGINE, name);
}

function engineProblem(engine: unknown): FieldProblem {
  const list = ENGINES.join(' or ');
  if (engine === undefined) return { field: '/engine', message: `is missing; it must be ${list}` };
  const near = typeof engine === 'string' ? nearestName(engine, ENGINES) : undefined;
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const came = clip(JSON.stringify(engine) ?? String(engine));
  return { field: '/engine', message: `must be ${list}, but ${came} came${hint}` };
}

function validatorOf(engine: Engine): ValidateFunction {
  let validate = validators.get(engine);
  if (validate === undefined) {
    validate = new Ajv(STRICT_AJV).compile(SPEC_BY_ENGINE[engine]);
    validators.set(engine, validate);
  }
  return validate;
}
