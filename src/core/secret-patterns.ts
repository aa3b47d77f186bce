import { contextKind, maskContexts } from './secret-contexts.ts';

/*
 * What a secret looks like. Used to refuse one in a spec and to mask one in a log or a message; the ray-worker masks by
 * the same patterns (echelon_rayworker/redaction.py).
 */

/** Replaces a secret. */
export const MASK = '***';

/** Kinds of secrets that are known by their form. */
const KINDS: readonly { kind: string; form: RegExp }[] = [
  { kind: 'an API key of Echelon', form: /(?<![\w-])echelon_[0-9a-hjkmnp-tv-z]{16}_[\w-]{43}/ },
  { kind: 'a key of signed webhooks', form: /(?<![\w-])whsec_[A-Za-z0-9+/]{24,128}={0,2}/ },
  {
    kind: 'the URL of a webhook',
    form: /(?<![\w-])(?:hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)|[\w-]{1,63}\.webhook\.office\.com\/webhookb2|discord(?:app)?\.com\/api\/webhooks)\/[\w/@-]{16,512}/,
  },
  { kind: 'a Hugging Face token', form: /(?<![\w-])hf_[A-Za-z0-9]{20,}/ },
  // Both conditions keep names such as sk-learning-rate-sweep out.
  { kind: 'an API key (sk-…)', form: /(?<![\w-])sk-(?=[\w-]*[0-9])(?=[\w-]*[A-Z])[\w-]{20,}/ },
  { kind: 'a GitHub token', form: /(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})/ },
  { kind: 'a GitLab token', form: /(?<![\w-])glpat-[\w-]{20,}/ },
  { kind: 'an AWS access key', form: /(?<![\w-])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])/ },
  { kind: 'a Slack token', form: /(?<![\w-])xox[abeoprs]-[A-Za-z0-9-]{10,}/ },
  { kind: 'a Google API key', form: /(?<![\w-])AIza[\w-]{35}/ },
  { kind: 'an NVIDIA API key', form: /(?<![\w-])nvapi-[\w-]{20,}/ },
  { kind: 'a signed token (JWT)', form: /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/ },
  {
    kind: 'a private key',
    // Up to the dashes of its end, or as far as it is there: a text that was cut must not show half a key.
    form: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?:-----(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?)?/,
  },
  { kind: 'an address with a password', form: /(?<=:\/\/)[^\s/:@"'\\]{0,128}:[^\s/@"'\\]{1,256}(?=@)/ },
];

const BEARER = /(?<=bearer )[\w.~+/=-]{12,}/i;
const ANY = new RegExp(
  [...KINDS.map(({ form }) => form.source), '(?<=[Bb]earer )[\\w.~+/=-]{12,}'].join('|'),
  'g',
);

/** A text with fewer characters holds no secret of a known form, unless it is an address. */
const SHORTEST = 15;

/** The kind of secret in the text, in words, or undefined if the text has no known one. Linear in the text. */
export function secretKind(text: string): string | undefined {
  if (text.length < SHORTEST && !text.includes('://')) return undefined;
  if (BEARER.test(text)) return 'a bearer token';
  return KINDS.find(({ form }) => form.test(text))?.kind ?? contextKind(text);
}

/** The text with every secret of a known form masked. Linear in the text. */
export function maskSecrets(text: string): string {
  return maskContexts(text.replace(ANY, MASK), MASK);
}

/** Longest secret that is distinguished from the beginning of a longer one. An incomplete private key is masked as well. */
const LOOK_AHEAD = 512;

/**
 * The first `most` characters of a text, with every secret in them masked, also one that the cut would halve. Costs what
 * that much text costs, however long the whole one is.
 */
export function maskedStart(text: string, most: number): string {
  const masked = maskSecrets(text.slice(0, most + LOOK_AHEAD));
  return masked.length <= most && text.length <= most + LOOK_AHEAD
    ? masked
    : `${masked.slice(0, most).toWellFormed()}…`;
}

const NAME = /token|secret|passw|credential|api[_-]?key|access[_-]?key|private[_-]?key|(?:^|[_.-])key$/i;
/** Words of trainings: tokenizers, token counts, special tokens, ways to aggregate over tokens. */
const NO_NAME =
  /tokeni[sz]|tokens$|(?:max|min|num|eos|bos|pad|unk|sep|mask|stop|image|special|per)[_.-]?token|token[_.-]?(?:mean|sum|level|len|limit|count|ids?|budget|type)/i;

/** Keys of tables, mappings and orders, and public ones. */
const NO_KEY =
  /(?:sort|order|group|partition|shard|primary|foreign|cache|lookup|index|hash|routing|map|dict|row|column|field|record|item|metric|label|image|video|text|prompt|answer|question|input|output|data|state|reward|action|target|host|public)[_.-]?keys?$/i;
/** Names of what tells where a secret is: a variable, a file. */
const OF_A_PLACE = /(?:env|env[_-]?var|variable|file|path|name|field|column)$/i;

/** Whether a field of this name is one that holds a secret. */
export function isSecretName(name: string): boolean {
  return NAME.test(name) && !NO_NAME.test(name) && !NO_KEY.test(name) && !OF_A_PLACE.test(name);
}

/** Whether a value under a secret's name may be the secret itself, and no placeholder, path or word. */
export function mayBeSecret(name: string, value: string): boolean {
  const text = value.trim();
  if (
    /\s/.test(text) ||
    /^(?:\$[\w({].*|<.*>|\{\{.*|\*+|none|null|true|false|default|\d+(?:\.\d+)?)$/i.test(text)
  )
    return false;
  // A call or an index, such as getpass( and os.environ[.
  if (/^[A-Za-z_][\w.]*[([]/.test(text)) return false;
  if (/passw/i.test(name)) return text.length >= 4;
  return looksRandom(text);
}

/** Whether a text is as disordered as a generated key: long, letters and digits mixed, few repetitions. */
export function looksRandom(text: string): boolean {
  if (text.length < 16 || !/[0-9]/.test(text) || !/[A-Za-z]/.test(text)) return false;
  if (!/^[\w.~+/=-]+$/.test(text)) return false;
  return bitsPerCharacter(text) >= 3.2;
}

/** Shannon's entropy of the text's characters. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
