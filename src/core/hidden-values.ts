import { MASK, maskSecrets } from './secret-patterns.ts';

/** Values that must not appear in text that other parties influence. */
export interface HiddenValues {
  /** Masks this value from now on. A value below 6 characters is ignored, since masking it would mangle words. */
  hide(value: string | null | undefined): void;
  /** The text without hidden values, and without what looks like a secret. */
  redact(text: string): string;
}

const MIN_CHARACTERS = 6;

/**
 * Controls of a terminal, which can split a value: sequences of ECMA-48 after ESC or an 8-bit control, and shifts. They are
 * also found as JSON, C or Python escape them. Bounded, so that a search is linear in the text.
 */
const ESC = '(?:\\x1b|\\\\{1,8}(?:u001[bB]|x1[bB]|033|e))';
const control = (digits: string) =>
  `(?:[${[...digits].map((digit) => `\\x9${digit}`).join('')}]|\\\\{1,8}(?:u00|x)9[${digits}${digits.toUpperCase()}])`;
const SINGLE = '[\\x0e\\x0f\\x80-\\x9f]';
/** Characters without width, which split a value as well; also as JSON escapes them. */
const EMPTY =
  '(?:[\\u00ad\\u034f\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff]|\\udb40[\\udc00-\\udc7f]' +
  '|\\\\{1,8}u(?:00[aA][dD]|034[fF]|061[cC]|180[eE]|200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE]0[0-9a-fA-F]|[fF][eE][fF]{2}))';
const END = `(?:[\\x07\\x9c]|${ESC}\\\\|\\\\{1,8}(?:(?:u00|x)9[cC]|(?:u00|x)07))`;
const STEERING = new RegExp(
  [
    `(?:${ESC}\\[|${control('b')})[0-?]*[ -/]*[@-~]`,
    `(?:${ESC}[PX\\]^_]|${control('08def')})[^\\x07\\x1b\\x9c]{0,1024}?${END}`,
    `${ESC}[ -/]*[0-~]`,
    SINGLE,
    EMPTY,
  ].join('|'),
  'g',
);
const MAY_STEER = new RegExp(`${SINGLE}|${EMPTY}|\\x1b|\\\\(?:u00[19]|x[19]|033|e)`);

/**
 * See {@link HiddenValues}. Values are found in the forms of test/golden/vectors/redaction.json, as the ray-worker finds them
 * (echelon_rayworker/redaction.py). A text whose value is split by controls of a terminal loses these controls.
 */
export function createHiddenValues(): HiddenValues {
  const forms = new Set<string>();
  const mask = (text: string) => {
    let shown = text;
    for (const form of forms) if (shown.includes(form)) shown = shown.replaceAll(form, MASK);
    return maskSecrets(shown);
  };
  return {
    hide(value) {
      if (value == null || value.length < MIN_CHARACTERS) return;
      for (const form of formsOf(value)) forms.add(form);
    },
    redact(text) {
      const masked = mask(text);
      if (!MAY_STEER.test(masked)) return masked;
      const plain = masked.replace(STEERING, '');
      const shown = mask(plain);
      return shown === plain ? masked : shown;
    },
  };
}

function formsOf(value: string): Set<string> {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const texts = [value, value.replaceAll('\\', '\\\\'), ...escapedOf(value), ...percentEncoded(value)];
  const encoded = [...separated(hex), ...cores(bytes, 3, 6, toBase64), ...cores(bytes, 5, 5, toBase32)];
  return new Set([...texts, ...encoded].filter((form) => form.length >= MIN_CHARACTERS));
}

/** Hexadecimal digits in both cases, in a row and in pairs: `61:62`, `61 62`, `61-62`, `61\x62`. */
function separated(hex: string): string[] {
  const joined = ['', ':', ' ', '-', '\\x'].map((between) => hex.replace(/..(?=.)/g, `$&${between}`));
  return [...joined, ...joined.map((text) => text.toUpperCase().replaceAll('X', 'x'))];
}

/** The value as JSON, up to three times, with and without other characters than those of ASCII. */
function escapedOf(value: string): string[] {
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1);
  const ascii = (text: string) =>
    text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [quoted(value), ascii(quoted(value))].flatMap((once) => [once, quoted(once), quoted(quoted(once))]);
}

/** The value percent-encoded once and twice, by JavaScript and by Python, with `+` or `/` as they are, with digits of both cases. */
function percentEncoded(value: string): string[] {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  const loose = encodeURIComponent(value.toWellFormed());
  const strict = loose.replace(/[!'()*]/g, code);
  const upper = [loose, strict, strict.replaceAll('%2F', '/'), strict.replaceAll('%20', '+')];
  const once = upper.flatMap((text) => [text, text.replace(/%../g, (digits) => digits.toLowerCase())]);
  return [...once, ...once.map(encodeURIComponent)];
}

/**
 * A value within other bytes, at each offset of the encoding's blocks: only the characters that the value alone decides, since
 * those at the edges carry bits of their neighbours.
 */
function cores(bytes: Buffer, block: number, bits: number, encode: (bytes: Buffer) => string[]): string[] {
  return Array.from({ length: block }, (_, offset) => offset).flatMap((offset) => {
    const [begin, end] = [Math.ceil((offset * 8) / bits), Math.floor(((offset + bytes.length) * 8) / bits)];
    return encode(Buffer.concat([Buffer.alloc(offset), bytes])).map((text) => text.slice(begin, end));
  });
}

const toBase64 = (bytes: Buffer): string[] => [bytes.toString('base64'), bytes.toString('base64url')];

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function toBase32(bytes: Buffer): string[] {
  let [text, held, bits] = ['', 0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
  }
  return [text, text.toLowerCase()];
}
