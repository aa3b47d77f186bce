/** A value of an override: text, a number, a truth value, or a list of plain words. */
export type HydraValue = string | number | boolean | readonly string[];

const KEY = /^\+?[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const WORD = /^[A-Za-z_][A-Za-z0-9_./:-]*$/;
// Words that Hydra's grammar reads as something else than text.
const RESERVED = /^(null|true|false|inf|nan)$/i;

/**
 * One argument `key=value` in Hydra's override grammar. Throws a TypeError for a key that is no dotted name, for a
 * number that is not finite, and for text that no quoting makes plain: backslashes, control characters, and the
 * `${` of a reference, which OmegaConf would resolve even in quotes.
 */
export function hydraOverride(key: string, value: HydraValue): string {
  if (!KEY.test(key)) throw new TypeError(`not a key of a configuration: ${key}`);
  return `${key}=${hydraText(value)}`;
}

/** A value as Hydra's override grammar writes it; see {@link hydraOverride}. */
export function hydraText(value: HydraValue): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`not a finite number: ${value}`);
    // Hydra's grammar has no plus sign in an exponent such as 1e+21.
    return String(value).replace('e+', 'e');
  }
  if (typeof value !== 'string') return `[${value.map(listWord).join(',')}]`;
  if (WORD.test(value) && !RESERVED.test(value)) return value;
  return quoted(value);
}

/** What a text of a script or of the configuration means: `True`, `1e-6`, `[a,b]`, `null`, or text. */
export function readHydraText(text: string): HydraValue | null {
  if (/^true$/i.test(text)) return true;
  if (/^false$/i.test(text)) return false;
  if (text === 'null') return null;
  if (/^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (/^\[[\w,-]*\]$/.test(text))
    return text
      .slice(1, -1)
      .split(',')
      .filter((word) => word !== '');
  return text;
}

function listWord(word: string): string {
  if (!/^[a-z_]+$/.test(word) || RESERVED.test(word)) throw new TypeError(`not a plain word: ${word}`);
  return word;
}

function quoted(text: string): string {
  if (/[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text) || text.includes('${') || !text.isWellFormed()) {
    throw new TypeError(`cannot be written as an override: ${JSON.stringify(text)}`);
  }
  return `'${text.replaceAll("'", "\\'")}'`;
}
