import { type Static, Type } from 'typebox';
import type { FieldProblem } from '../core/errors.ts';
import { secretArguments } from '../core/secret-contexts.ts';
import { isSecretName, looksRandom, MASK, mayBeSecret, secretKind } from '../core/secret-patterns.ts';
import { clip, escapePointer } from './json.ts';
import { strict } from './objects.ts';

/** Variables that change what is run, or that are ours: none of them holds a secret. */
const VARIABLE = '^(?!(?:ECHELON_|RAY_|LD_|PYTHON)|(?:PATH|HOME|SHELL|USER)$)[A-Za-z_][A-Za-z0-9_]{0,127}$';

/** Names of secrets on a cluster. */
const SECRET_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$';

/** Secrets by reference: variable of the driver → name of the secret on the cluster. */
export const Secrets = Type.Record(
  Type.String({ pattern: VARIABLE }),
  Type.String({
    pattern: SECRET_NAME,
    description: 'Name of a secret on the cluster, never its value.',
  }),
  {
    ...strict,
    maxProperties: 32,
    description: 'Environment variables of the driver whose values come from secrets on the cluster.',
  },
);
export type Secrets = Static<typeof Secrets>;

const REMEDY =
  'a spec holds no secrets: store it on the cluster and name it under /secrets, e.g. {"HF_TOKEN": "hf-read"}';

/** Problems told at most. */
const MOST = 20;
/** Values in one another that are looked into. */
const DEEPEST = 64;
/** So much of the end of a key is read as a name. */
const MAX_NAME = 200;
/** So much of a value is read for its disorder, which shows in less: values of many assignments in a row overlap. */
const MAX_VALUE = 1024;
/** So much of each key is shown in a field. */
const MAX_SHOWN = 100;

/**
 * Where an input, of any form, holds a secret in plain text: by its known form anywhere, and by its disorder under a
 * secret's name. The message never contains the value; it ends with the remedy. Ordinary hashes, names, paths and numbers pass.
 * Linear in the input: what is known of a key is found once, and not again for each value below it.
 */
export function plainSecretProblems(input: unknown, remedy: string = REMEDY): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const open: Place[] = [{ value: input, above: null, ...ROOT, depth: 0 }];
  for (let at = open.pop(); at !== undefined && problems.length < MOST; at = open.pop())
    look(at, open, problems);
  for (const problem of problems) problem.message += `; ${remedy}`;
  return problems.sort((a, b) => (a.field < b.field ? -1 : 1));
}

/** What a key says of the value below it. */
interface Key {
  /** As it is shown: without a secret. */
  shown: string;
  /** The name that a secret may have; null: the key is no name of a secret. */
  secretName: string | null;
  /** Below it stand the names of secrets on the cluster. */
  holdsReferences: boolean;
  /** Its value is the name of a secret on the cluster. */
  isReference: boolean;
  /** Its value is a program, in which only a text in quotes is a value. */
  isProgram: boolean;
}

interface Place extends Key {
  value: unknown;
  /** Null: the input itself. */
  above: Place | null;
  depth: number;
}

const ROOT: Key = {
  shown: '',
  secretName: null,
  holdsReferences: false,
  isReference: false,
  isProgram: false,
};

/** Files of programs. A shell's is none: its variables are assigned without quotes. */
const PROGRAM = /\.(?:pyi?|ipynb|[cm]?[jt]sx?|c|cc|cpp|cu|h|hpp|rs|go|java|jl|lua)$/;

function look(place: Place, open: Place[], problems: FieldProblem[]): void {
  const { value, depth } = place;
  if (typeof value === 'string') {
    const what = whatIsHeld(value, place);
    if (what !== undefined) problems.push({ field: fieldOf(place), message: `holds ${what}` });
    return;
  }
  if (value === null || typeof value !== 'object' || depth > DEEPEST) return;
  if (Array.isArray(value)) {
    const item = { ...place, above: place, depth: depth + 1 };
    for (const at of secretArguments(value)) {
      const field = fieldOf({ ...item, value: null, shown: String(at) });
      problems.push({ field, message: 'holds what looks like a secret' });
    }
    value.forEach((inner: unknown, index) => {
      if (mayHoldOne(inner)) open.push({ ...item, value: inner, shown: String(index) });
    });
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const kind = secretKind(key);
    const below = { ...read(key, kind !== undefined, place), value: inner, above: place, depth: depth + 1 };
    if (kind !== undefined) problems.push({ field: fieldOf(below), message: `is named after ${kind}` });
    if (mayHoldOne(inner)) open.push(below);
    if (problems.length >= MOST) return;
  }
}

function mayHoldOne(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** References stand below `secrets` of a spec or of a sweep's shared spec, or an axis names them: `secrets.HF_TOKEN`. */
function read(key: string, isSecret: boolean, { holdsReferences }: Key): Key {
  const name = key.slice(-MAX_NAME).split(/[./]/).at(-1) ?? '';
  return {
    shown: isSecret ? MASK : escapePointer(clip(key, MAX_SHOWN)),
    secretName: isSecretName(name) ? name : null,
    holdsReferences: key.length <= MAX_NAME && /(?:^|\/)secrets$/.test(key),
    isReference: holdsReferences || (key.length <= 2 * MAX_NAME && /(?:^|\/)secrets[./]./.test(key)),
    isProgram: PROGRAM.test(key.slice(-MAX_NAME)),
  };
}

/** JSON pointer of a place. */
function fieldOf(place: Place): string {
  const parts: string[] = [];
  for (let at = place; at.above !== null; at = at.above) parts.push(`/${at.shown}`);
  return parts.reverse().join('');
}

function whatIsHeld(value: string, { secretName, isReference, isProgram }: Key): string | undefined {
  const kind = secretKind(value);
  if (kind !== undefined)
    return `what looks like ${kind}${inLine(value, (line) => secretKind(line) === kind)}`;
  // References have secret names and are no values; one that looks like a value is one.
  if (isReference)
    return value.length >= 32 && looksRandom(value.slice(0, MAX_VALUE))
      ? 'what looks like the secret itself, not its name on the cluster'
      : undefined;
  if (secretName !== null && mayBeSecret(secretName, value.slice(0, MAX_VALUE)))
    return 'what looks like a secret';
  const isAssigned = (text: string) => holdsAssignment(text, isProgram);
  return isAssigned(value) ? `what looks like a secret${inLine(value, isAssigned)}` : undefined;
}

/** " in line 7" of a text of several lines; empty if no line alone is the one. */
function inLine(text: string, isIt: (line: string) => boolean): string {
  const lines = text.split('\n');
  const at = lines.length === 1 ? -1 : lines.findIndex(isIt);
  return at < 0 ? '' : ` in line ${at + 1}`;
}

/**
 * Whether a text assigns what may be a secret to a secret's name, anywhere in it: `+trainer.api_key=…`,
 * `A=1 DB_PASSWORD=…`, a line of a .env or YAML file, a field of JSON.
 */
function holdsAssignment(text: string, isProgram: boolean): boolean {
  for (const { index, 0: sign } of text.matchAll(/(?<![=!<>:])[=:](?!=)/g)) {
    const name = nameAtEnd(text.slice(Math.max(0, index - MAX_NAME), index));
    if (!isSecretName(name)) continue;
    const value = valueAt(text.slice(index + 1, index + 1 + MAX_VALUE), { sign, isProgram });
    if (mayBeSecret(name, value)) return true;
  }
  return false;
}

/** The value at the start of a text: in quotes, or else up to the end of its word (`=`) or line (`:`). */
function valueAt(text: string, { sign, isProgram }: { sign: string; isProgram: boolean }): string {
  const [, quote, rest = ''] = /^[ \t]{0,8}\\{0,4}(["'`]?)([^\r\n]*)/.exec(text) ?? [];
  if (quote) return rest.split(/["'`\\]/, 1)[0]!;
  if (isProgram) return '';
  return rest.split(sign === ':' ? /[,}\]]|[ \t]#/ : /[\s"'`;&|,)}]/, 1)[0]!;
}

/** The last part of a dotted name that a short text ends with, before quotes, blanks and the end of an index. */
function nameAtEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s\\"'`\]]/.test(text[end - 1]!)) end--;
  let start = end;
  while (start > 0 && /[\w@/+~-]/.test(text[start - 1]!)) start--;
  return text.slice(start, end);
}

const SECRET_PROJECTS =
  'Secrets of the cluster, each with the projects whose experiments may name it; `*` is every project. No experiment may name a secret that is not listed. null: no list; only experiments of the project `default` may name secrets.';

/** The projects that may use each secret of a cluster. */
export const SecretProjects = Type.Record(
  Type.String({ pattern: SECRET_NAME }),
  Type.Array(Type.String({ pattern: '^(\\*|[a-z0-9][a-z0-9-]{0,62})$' }), {
    maxItems: 256,
    uniqueItems: true,
  }),
  { ...strict, maxProperties: 256, description: SECRET_PROJECTS },
);

/** {@link SecretProjects} in an answer. */
export const SeenSecretProjects = Type.Record(Type.String(), Type.Array(Type.String()), {
  description: `${SECRET_PROJECTS} A key of a project sees only the entries of its own project.`,
});
