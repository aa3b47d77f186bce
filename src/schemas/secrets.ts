import { type Static, Type } from 'typebox';
import type { FieldProblem } from '../core/errors.ts';
import { isSecretName, looksRandom, MASK, mayBeSecret, secretKind } from '../core/secret-patterns.ts';
import { escapePointer } from './json.ts';

/** Variables that change what is run, or that are ours: none of them holds a secret. */
const VARIABLE = '^(?!(?:ECHELON_|RAY_|LD_|PYTHON)|(?:PATH|HOME|SHELL|USER)$)[A-Za-z_][A-Za-z0-9_]{0,127}$';

/** Secrets by reference: variable of the driver → name of the secret on the cluster. */
export const Secrets = Type.Record(
  Type.String({ pattern: VARIABLE }),
  Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
    description: 'The name of a secret on the cluster, never its value',
  }),
  {
    additionalProperties: false,
    maxProperties: 32,
    description: "Variables of the driver's environment that get their values on the cluster",
  },
);
/** See {@link Secrets}. */
export type Secrets = Static<typeof Secrets>;

const MEND =
  'a spec holds no secrets: store it on the cluster and name it under /secrets, e.g. {"HF_TOKEN": "hf-read"}';

/** A field of `secrets`: of a spec, of a sweep's shared spec, or of one of its axes. */
const REFERENCE = /(?:^|\/|~1)secrets(?:\/|\.|~1)[^/]+(?:\/\d+)?$/;

/** Problems told at most. */
const MOST = 20;

/**
 * Where an input, of any form, holds a secret in plain text: by its known form anywhere, and by its disorder under a
 * secret's name. What is told never contains the value. Ordinary hashes, names, paths and numbers pass.
 */
export function plainSecretProblems(input: unknown): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const open: Place[] = [{ value: input, field: '', name: '', depth: 0 }];
  for (let at = open.pop(); at !== undefined && problems.length < MOST; at = open.pop())
    look(at, open, problems);
  return problems.sort((a, b) => (a.field < b.field ? -1 : 1));
}

interface Place {
  value: unknown;
  field: string;
  /** The last part of its key; of an item, that of its list. */
  name: string;
  depth: number;
}

const DEEPEST = 64;

function look({ value, field, name, depth }: Place, open: Place[], problems: FieldProblem[]): void {
  if (typeof value === 'string') {
    const what = whatIsHeld(value, name, field);
    if (what !== undefined) problems.push({ field, message: `holds ${what}; ${MEND}` });
    return;
  }
  if (value === null || typeof value !== 'object' || depth > DEEPEST) return;
  for (const [key, inner] of Object.entries(value)) {
    const kind = secretKind(key);
    const below = `${field}/${kind === undefined ? escapePointer(key) : MASK}`;
    if (kind !== undefined) problems.push({ field: below, message: `is named after ${kind}; ${MEND}` });
    open.push({
      value: inner,
      field: below,
      name: Array.isArray(value) ? name : (key.split(/[./]/).at(-1) ?? key),
      depth: depth + 1,
    });
  }
}

function whatIsHeld(value: string, name: string, field: string): string | undefined {
  const kind = secretKind(value);
  if (kind !== undefined) return `what looks like ${kind}`;
  // References have secret names and are no values; one that looks like a value is one.
  if (REFERENCE.test(field))
    return value.length >= 32 && looksRandom(value)
      ? 'what looks like the secret itself, not its name on the cluster'
      : undefined;
  if (isSecretName(name) && mayBeSecret(name, value)) return 'what looks like a secret';
  const assigned = /([\w.@/+~-]{1,200})=(\S+)/.exec(value);
  const assignee = assigned?.[1]?.split('.').at(-1) ?? '';
  if (assigned && isSecretName(assignee) && mayBeSecret(assignee, assigned[2] ?? ''))
    return 'what looks like a secret';
  return undefined;
}
