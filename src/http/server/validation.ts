import { EchelonError, type FieldProblem } from '../../core/errors.ts';
import { validateSpec } from '../../engines/validate-spec.ts';
import { type Check, createCheck, createCompilers } from '../../schemas/check.ts';
import type { Schema } from '../../schemas/field-problems.ts';
import type { App } from './deps.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiles the input schemas of all routes now. A request compiles only its own route's, so that a start is fast. */
    compileSchemas(): void;
  }
}

interface ObjectSchema extends Schema {
  $ref?: string;
  format?: string;
}

/**
 * Every input is checked against its route's schema and never changed by it. Path and query values, which are
 * texts, are read by their schema first: `10` is an integer there, ` 10`, `1e1` and `0xA` are not. Answers are
 * written as they are; that they fit their schemas is a matter of tests.
 */
export function addValidation(app: App): void {
  const compilers = createCompilers();
  const compiles: (() => Check)[] = [];
  app.decorate('compileSchemas', () => {
    for (const compile of compiles) compile();
  });
  app.setValidatorCompiler<ObjectSchema>(({ schema, httpPart }) => {
    if (schema.$ref?.startsWith('ExperimentSpec')) return specCheck;
    // A file is a stream, which its reader checks.
    if (schema.format === 'binary') return (value: unknown) => ({ value });
    let check: Check | undefined;
    const compiled = (): Check => {
      check ??= createCheck(schema, compilers);
      return check;
    };
    compiles.push(compiled);
    const texts = httpPart !== 'body';
    const reads = texts && Object.values(schema.properties ?? {}).some(({ type }) => type !== 'string');
    return (input: unknown) => {
      const value = reads ? readTexts(schema, input) : (input ?? {});
      const problems = compiled()(value);
      return problems.length === 0 ? { value } : { error: invalid(problems, texts) };
    };
  });
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
}

function specCheck(input: unknown) {
  try {
    return { value: validateSpec(input) };
  } catch (error) {
    return { error: error as Error };
  }
}

function invalid(problems: FieldProblem[], texts: boolean): EchelonError {
  const named = texts
    ? problems.map(({ field, message }) => ({ field: field.replace(/^\/([^/]*).*$/, '$1'), message }))
    : problems;
  const fields = named.map(({ field }) => field || 'the body').join(', ');
  return new EchelonError('invalid-request', `The request is invalid: ${fields}.`, { problems: named });
}

/** Values of texts whose schema asks for a number, a list or a truth value; others are left for the check. */
function readTexts(schema: ObjectSchema, input: unknown): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries((input ?? {}) as Record<string, unknown>)) {
    Object.defineProperty(values, name, {
      value: readText(schema.properties?.[name]?.type, text),
      enumerable: true,
    });
  }
  return values;
}

function readText(type: string | string[] | undefined, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^(?:0|-?[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (type === 'array') return text.split(',');
  return text;
}
