import { isIP } from 'node:net';

/** How the text of a setting is read. Each function throws a SettingsError that says what it must be. */

/** A setting whose value cannot be used. The message names the variable, the value's fault and the remedy. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Below it a token can be guessed. */
const MIN_TOKEN_LENGTH = 16;

export const text = (value: string): string => value;

export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new SettingsError(`must be a whole number from ${min} to ${max}, not "${value}"`);
    }
    return number;
  };
}

export function flag(value: string): boolean {
  if (value === '1' || value === 'true') return true;
  if (value === '0' || value === 'false') return false;
  throw new SettingsError(`must be true or false, not "${value}"`);
}

export const list = (value: string): string[] =>
  value
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter(Boolean);

export function oneOf<const T extends string>(...names: T[]): (value: string) => T {
  return (value) => {
    const found = names.find((name) => name === value);
    if (!found) throw new SettingsError(`must be one of ${names.join(', ')}, not "${value}"`);
    return found;
  };
}

/** A secret of at least `least` characters, so that it cannot be guessed. */
export function secretText(least: number): (value: string) => string {
  return (value) => {
    if (value.length < least) throw new SettingsError(`must have at least ${least} characters`);
    return value;
  };
}

/** Tokens of at least 16 characters, at least one. */
export function tokenList(value: string): string[] {
  const tokens = list(value);
  if (tokens.length === 0) throw new SettingsError('holds no token');
  if (tokens.some((token) => token.length < MIN_TOKEN_LENGTH))
    throw new SettingsError(`must hold tokens of at least ${MIN_TOKEN_LENGTH} characters`);
  return tokens;
}

export function address(value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new SettingsError('must be an address that begins with http:// or https://');
  return new URL(value).origin;
}

export function smtp(value: string): string {
  if (!URL.canParse(value) || !/^smtps?:$/.test(new URL(value).protocol))
    throw new SettingsError('must begin with smtp:// or smtps://');
  return value;
}

export function networks(value: string): string[] {
  const found = list(value);
  for (const network of found) {
    const [address = '', bits = '0', ...more] = network.split('/');
    const length = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
    if (more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > length)
      throw new SettingsError(`must hold addresses or networks such as 10.0.0.0/8, not "${network}"`);
  }
  return found;
}

/** Domains in lower case. */
export function domains(value: string): string[] {
  const found = list(value.toLowerCase());
  const odd = found.find((one) => !/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(one));
  if (odd !== undefined) throw new SettingsError(`must hold domains such as example.com, not "${odd}"`);
  return found;
}

export function parsed<T extends object>(parse: (value: string) => T | string): (value: string) => T {
  return (value) => {
    const found = parse(value);
    if (typeof found === 'string') throw new SettingsError(found);
    return found;
  };
}

export const addresses = (value: string): string[] => list(value).map(address);

export function prices(value: string): Record<string, number> {
  return Object.fromEntries(
    list(value).map((item) => {
      const [name, price] = [
        item.slice(0, item.lastIndexOf('=')).trim(),
        item.slice(item.lastIndexOf('=') + 1),
      ];
      if (name === '' || !/^\s*\d+(\.\d+)?\s*$/.test(price))
        throw new SettingsError(`must have items of the form TYPE=PRICE, not "${item}"`);
      return [name, Number(price)];
    }),
  );
}
