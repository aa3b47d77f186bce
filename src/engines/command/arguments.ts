import type { CommandSpec } from './spec.ts';

type Parameters = NonNullable<CommandSpec['parameters']>;

/** Names that the ray-worker replaces on the cluster, so that no parameter can have them. */
export const PLACES = ['sharedRoot', 'experimentDir', 'attemptDir', 'checkpoint'] as const;

/** The arguments with the parameters' values in place of `{name}`, once: a value is not searched again. */
export function withParameters(argv: readonly string[], parameters: Parameters): string[] {
  return argv.map((argument) =>
    argument.replace(NAMED, (written, name: string) =>
      Object.hasOwn(parameters, name) ? String(parameters[name]) : written,
    ),
  );
}

/** Parameters that no argument has. */
export function unusedParameters(argv: readonly string[], parameters: Parameters): string[] {
  const used = new Set(argv.flatMap((argument) => Array.from(argument.matchAll(NAMED), ([, name]) => name)));
  return Object.keys(parameters).filter((name) => !used.has(name));
}

const NAMED = /\{([A-Za-z]\w{0,63})\}/g;
