import { MASK, maskSecrets } from './secret-patterns.ts';

/** Values that must not appear in text that other parties influence. */
export interface HiddenValues {
  /** Masks this value from now on. A value below 6 characters is ignored, since masking it would mangle words. */
  hide(value: string | null | undefined): void;
  /** The text without hidden values, and without what looks like a secret. */
  redact(text: string): string;
}

const MIN_CHARACTERS = 6;

/** Sequences that steer a terminal, as they are or escaped as JSON, C or Python write them: they can split a value. */
const ESC = '(?:\\x1b|\\\\+(?:u001[bB]|x1[bB]|033|e))';
const STEERING = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1b]*(?:\\x07|${ESC}\\\\)|[@-Z_])`,
  'g',
);
const MAY_STEER = new RegExp(ESC);

/**
 * See {@link HiddenValues}. Values are found in the forms of test/golden/vectors/redaction.json, as the ray-worker finds them
 * (echelon_rayworker/redaction.py). A text whose value is split by sequences that steer a terminal loses these sequences.
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
      if (!MAY_STEER.test(text)) return mask(text);
      const plain = text.replace(STEERING, '');
      const shown = mask(plain);
      return shown === plain ? text : shown;
    },
  };
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1);
  const percent = encodeURIComponent(value);
  const hex = bytes.toString('hex');
  const texts = [value, quoted(value), quoted(quoted(value)), quoted(quoted(quoted(value)))];
  const encoded = [percent, encodeURIComponent(percent), hex, hex.toUpperCase()];
  return [...texts, ...encoded, ...cores(bytes, 3, 6, toBase64), ...cores(bytes, 5, 5, toBase32)].filter(
    (form) => form.length >= MIN_CHARACTERS,
  );
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
