import { nearestName } from 'command-kit/nearest';
import type { FieldProblem } from '../../core/errors.ts';
import type { CommandSpec } from './spec.ts';

type Parameters = NonNullable<CommandSpec['parameters']>;

/** Names that the ray-worker replaces on the cluster, so that no parameter can have them. */
export const PLACES = ['sharedRoot', 'experimentDir', 'attemptDir', 'checkpoint'] as const;

/** `{name}` stands for a value. `{?name}` stands for nothing, and says on what its argument depends. */
const NAMED = /\{(\??)([A-Za-z]\w{0,63})\}/g;

/**
 * The arguments with the parameters' values in place of `{name}`, once: a value is not searched again. An argument is omitted
 * if a parameter that it contains is null, or one that it contains as `{?name}` is false.
 */
export function withParameters(argv: readonly string[], parameters: Parameters): string[] {
  return argv
    .filter((argument) => !isOmitted(argument, parameters))
    .map((argument) =>
      argument.replace(NAMED, (written, condition: string, name: string) => {
        if (!Object.hasOwn(parameters, name)) return written;
        return condition === '' ? String(parameters[name]) : '';
      }),
    );
}

/** See {@link withParameters}. */
export function isOmitted(argument: string, parameters: Parameters): boolean {
  return Array.from(argument.matchAll(NAMED)).some(([, condition, name]) => {
    const value = Object.hasOwn(parameters, name!) ? parameters[name!] : undefined;
    return value === null || (condition !== '' && value === false);
  });
}

/** Parameters that no argument has. */
export function unusedParameters(argv: readonly string[], parameters: Parameters): string[] {
  const used = new Set(
    argv.flatMap((argument) => Array.from(argument.matchAll(NAMED), ([, , name]) => name)),
  );
  return Object.keys(parameters).filter((name) => !used.has(name));
}

/** The value of an option that is a name alone: `--lr={lr}`, `lr={lr}`. */
const VALUE_OF_OPTION = /^-{0,2}[\w.+@/-]+=\{([A-Za-z]\w{0,63})\}$/;
const ALONE = /^\{([A-Za-z]\w{0,63})\}$/;

/**
 * What is wrong with arguments that name a parameter which is not set. Braces within other text are that text, and an argument
 * such as `{print}` is one of awk as long as the spec has no parameters.
 */
export function unknownParameters(
  argv: readonly string[],
  parameters: Parameters,
  field: '/command' | '/resume',
): FieldProblem[] {
  const names = Object.keys(parameters);
  const isSet = (name: string) => names.includes(name) || (PLACES as readonly string[]).includes(name);
  return argv.flatMap((argument, at) => {
    const conditions = Array.from(argument.matchAll(NAMED)).filter(([, condition]) => condition !== '');
    const value = VALUE_OF_OPTION.exec(argument) ?? (names.length > 0 ? ALONE.exec(argument) : null);
    const named = [...conditions.map(([, , name]) => name!), ...(value === null ? [] : [value[1]!])];
    const unknown = named.find((name) => !isSet(name));
    if (unknown === undefined) return [];
    const near = nearestName(unknown, names);
    const remedy =
      near === undefined ? `set /parameters/${unknown}, or an axis of the sweep` : `did you mean {${near}}?`;
    return [{ field: `${field}/${at}`, message: `contains {${unknown}}, which is no parameter; ${remedy}` }];
  });
}
