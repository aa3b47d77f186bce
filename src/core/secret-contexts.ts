/*
 * Secrets that only the text before them tells: a value of an option, of a command or of a file of passwords. The ray-worker
 * masks the same (echelon_rayworker/redaction.py); test/golden/vectors/secret-forms.json has examples for both.
 */

/** A form whose first group stays and whose second one is the secret, if `isSecret` says so. */
interface Context {
  readonly kind: string;
  readonly form: RegExp;
  readonly isSecret: (value: string) => boolean;
}

/** Names of options with a value that is a secret; one that names a file, a variable or a prompt has none. */
const SECRET_OPTION =
  /^--?(?:(?:[\w-]{0,40}[-_])?(?:passw(?:or)?d|passphrase|client[-_]?secret|(?:access|auth|api|hf|bearer|refresh)[-_]?token|(?:api|access|private|secret)[-_]?key)|secret|token)$/i;

/** A placeholder, a variable, a path, another option. */
const NO_VALUE = /^(?:[-$<{*@/%]|\.{1,2}\/|[A-Z_]+$|none$|null$|true$|false$|\d+(?:\.\d+)?$)/;

/** Whether a word after an option or a file's `password` is none of prose. */
function isNoWord(value: string): boolean {
  return value.length >= 4 && !NO_VALUE.test(value) && !/^[A-Za-z]?[a-z]*(?:[-_.,:'][a-z]*)*$/.test(value);
}

const isAny = (value: string): boolean => !/^[$<{*]/.test(value);

const CONTEXTS: readonly Context[] = [
  {
    kind: 'a password of a command',
    form: /((?:^|[\s"'`(])--?(?:[\w-]{0,40}[-_])?(?:passw(?:or)?d|passphrase)[ \t]{1,8}["']?)([^\s"'`|;&)]{4,256})/gi,
    isSecret: isNoWord,
  },
  {
    kind: 'a password of a command',
    form: /(\bcurl\b[^\n|;&]{0,300}?\s(?:-[uU][ \t]{0,8}|--(?:proxy-)?user(?:[ \t]{1,8}|=))["']?[^\s:"'`]{1,128}:)(?!\/\/)([^\s"'`]{1,256})/g,
    isSecret: isAny,
  },
  {
    kind: 'a password of a command',
    form: /(\bsshpass[ \t]{1,8}-p[ \t]{0,8}["']?)([^\s"'`|;&]{1,256})/g,
    isSecret: isAny,
  },
  {
    kind: 'a password of a .netrc file',
    form: /(\b(?:machine\s{1,8}\S{1,255}|default)\s{1,8}login\s{1,8}\S{1,128}\s{1,8}(?:account\s{1,8}\S{1,128}\s{1,8})?password\s{1,8})(\S{1,256})/g,
    isSecret: isAny,
  },
  {
    // A line of it, when each line stands alone.
    kind: 'a password of a .netrc file',
    form: /((?:^|\n)[ \t]{0,16}password[ \t]{1,16})(\S{4,256})(?=[ \t]{0,16}(?:\r?\n|$))/g,
    isSecret: isNoWord,
  },
  {
    kind: 'a password of a .pgpass file',
    form: /((?:^|\n)(?:\*|[A-Za-z0-9][\w.-]{0,255}):(?:\*|[56]\d{3}):(?:\*|[A-Za-z_][^\s:]{0,127}):(?:\*|[A-Za-z_][^\s:]{0,127}):)(\S{4,256})(?=[ \t]{0,16}(?:\r?\n|$))/g,
    isSecret: isAny,
  },
];

/** A text without any of these has no secret that its context tells. */
const MAY_HOLD = /passw|passphrase|curl|sshpass|:(?:\*|[56]\d{3}):/i;

/** The kind of such a secret in the text, in words; undefined: there is none. */
export function contextKind(text: string): string | undefined {
  if (!MAY_HOLD.test(text)) return undefined;
  return CONTEXTS.find(({ form, isSecret }) =>
    [...text.matchAll(form)].some(([, , value]) => isSecret(value!)),
  )?.kind;
}

/** The text with every such secret replaced by `mask`. */
export function maskContexts(text: string, mask: string): string {
  if (!MAY_HOLD.test(text)) return text;
  return CONTEXTS.reduce(
    (shown, { form, isSecret }) =>
      shown.replace(form, (whole, before: string, value: string) =>
        isSecret(value) && value !== mask ? `${before}${mask}` : whole,
      ),
    text,
  );
}

/**
 * The places of arguments that are secrets because of the argument before them: `--password X`, and `-u NAME:X` of a curl.
 */
export function secretArguments(args: readonly unknown[]): number[] {
  const isCurl = args.some((one) => typeof one === 'string' && /(?:^|\/)curl$/.test(one));
  return args.flatMap((value, at) => {
    const option = args[at - 1];
    if (typeof value !== 'string' || typeof option !== 'string') return [];
    if (isCurl && /^(?:-[uU]|--(?:proxy-)?user)$/.test(option))
      return /^[^\s:$]+:[^$]/.test(value) ? [at] : [];
    return SECRET_OPTION.test(option) && value.length >= 4 && !/\s/.test(value) && !NO_VALUE.test(value)
      ? [at]
      : [];
  });
}
