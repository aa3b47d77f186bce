import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { type BucketPlace, parseBucket } from './bucket.ts';

/** One setting: the variable that sets it, how its text is read, and what holds where it is not set. */
interface Setting<T> {
  variable: string;
  doc: string;
  fallback: T;
  read: (text: string) => T;
  /** It may also be kept in a file, which `<VARIABLE>_FILE` names. */
  secret?: true;
}

/** A setting whose value cannot be used. The message names the variable, the value's fault and the remedy. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Below it a token can be guessed. */
const MIN_TOKEN_LENGTH = 16;

const text = (value: string): string => value;

function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new SettingsError(`must be a whole number from ${min} to ${max}, not "${value}"`);
    }
    return number;
  };
}

function flag(value: string): boolean {
  if (value === '1' || value === 'true') return true;
  if (value === '0' || value === 'false') return false;
  throw new SettingsError(`must be true or false, not "${value}"`);
}

const list = (value: string): string[] =>
  value
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter(Boolean);

function oneOf<const T extends string>(...names: T[]): (value: string) => T {
  return (value) => {
    const found = names.find((name) => name === value);
    if (!found) throw new SettingsError(`must be one of ${names.join(', ')}, not "${value}"`);
    return found;
  };
}

function setting<T>(variable: string, fallback: T, read: (text: string) => T, doc: string): Setting<T> {
  return { variable, fallback, read, doc };
}

/** A secret of at least `least` characters, so that it cannot be guessed. */
function secretText(least: number): (value: string) => string {
  return (value) => {
    if (value.length < least) throw new SettingsError(`must have at least ${least} characters`);
    return value;
  };
}

/** Tokens of at least 16 characters, at least one. */
function tokenList(value: string): string[] {
  const tokens = list(value);
  if (tokens.length === 0) throw new SettingsError('holds no token');
  if (tokens.some((token) => token.length < MIN_TOKEN_LENGTH))
    throw new SettingsError(`must hold tokens of at least ${MIN_TOKEN_LENGTH} characters`);
  return tokens;
}

function address(value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new SettingsError('must be an address that begins with http:// or https://');
  return new URL(value).origin;
}

function bucket(value: string): BucketPlace {
  const place = parseBucket(value);
  if (typeof place === 'string') throw new SettingsError(place);
  return place;
}

/** Every setting, once. The README's table and the environment of chart and compose are checked against it. */
export const SETTINGS = {
  stateDir: setting(
    'ECHELON_STATE_DIR',
    join(homedir(), '.echelon'),
    text,
    'Where a private stack keeps its data',
  ),
  redisUrl: {
    ...setting<string | null>(
      'REDIS_URL',
      null,
      text,
      'The Redis server (redis://, rediss:// for TLS); not set: `echelon up` starts its own',
    ),
    secret: true,
  },
  redisPassword: {
    ...setting<string | null>(
      'REDIS_PASSWORD',
      null,
      text,
      'Password of the Redis server, where REDIS_URL has none',
    ),
    secret: true,
  },
  redisPrefix: setting('ECHELON_REDIS_PREFIX', 'echelon', text, 'Put before every key'),
  allowUnfitRedis: setting(
    'ECHELON_ALLOW_UNFIT_REDIS',
    false,
    flag,
    'Run on a Redis that may lose what was accepted, or that others reach without a password',
  ),
  redisTimeoutMs: setting(
    'ECHELON_REDIS_TIMEOUT_MS',
    5000,
    integer(100, 600000),
    'How long the api waits for an answer of Redis before it answers 503. A dispatcher waits as long as its lease, if that is longer',
  ),
  startWaitMs: setting(
    'ECHELON_START_WAIT_MS',
    60000,
    integer(0, 3600000),
    'How long a process that starts waits for a Redis that does not answer before it ends',
  ),
  archiveDir: setting<string | null>(
    'ECHELON_ARCHIVE_DIR',
    null,
    text,
    'Directory of the archive (batches above 64 kB, finished streams); shared by all dispatchers and apis. Not set: below the state directory',
  ),
  archiveUrl: setting<BucketPlace | null>(
    'ECHELON_ARCHIVE_URL',
    null,
    bucket,
    'S3 bucket of the archive instead of a directory: s3://bucket/prefix?endpoint=https://host&region=name; without an endpoint Amazon S3',
  ),
  archiveAccessKey: {
    ...setting<string | null>('ECHELON_ARCHIVE_ACCESS_KEY', null, text, 'Access key id of that bucket'),
    secret: true,
  },
  archiveSecretKey: {
    ...setting<string | null>('ECHELON_ARCHIVE_SECRET_KEY', null, text, 'Secret access key of that bucket'),
    secret: true,
  },
  host: setting('ECHELON_HOST', '127.0.0.1', text, 'Address that the api listens on'),
  port: setting('ECHELON_PORT', 7077, integer(0, 65535), 'Port that the api listens on; 0: a free one'),
  publicUrl: setting<string | null>(
    'ECHELON_PUBLIC_URL',
    null,
    address,
    'Where people reach the api, as their browsers see it (behind a proxy); not set: its own address',
  ),
  tokens: {
    ...setting<string[]>(
      'ECHELON_TOKENS',
      [],
      tokenList,
      'Tokens that may do everything, beside the API keys that are made with them, separated by commas or lines; not set: one is made and kept in the state directory',
    ),
    secret: true,
  },
  cookieSecret: {
    ...setting<string | null>(
      'ECHELON_COOKIE_SECRET',
      null,
      secretText(32),
      'Key of the cookies, the same for every replica of the api; not set: one is made and kept in the state directory',
    ),
    secret: true,
  },
  allowedHosts: setting<string[]>(
    'ECHELON_ALLOWED_HOSTS',
    ['localhost', '127.0.0.1', '[::1]'],
    list,
    'Names under which the api may be called',
  ),
  metricsPort: setting(
    'ECHELON_METRICS_PORT',
    0,
    integer(0, 65535),
    'Port of /metrics, /healthz and /readyz for machines, without a token; 0: none',
  ),
  metricsHosts: setting(
    'ECHELON_METRICS_HOST',
    ['127.0.0.1'],
    list,
    'Addresses or names on which the metrics port listens, separated by commas',
  ),
  leaseMs: setting(
    'ECHELON_LEASE_MS',
    15000,
    integer(300, 600000),
    'How long a dispatcher may be silent before another takes over',
  ),
  verifyThreads: setting(
    'ECHELON_VERIFY_THREADS',
    1,
    integer(1, 64),
    'Worker threads of a dispatcher that verify batches',
  ),
  verifyBudgetMs: setting(
    'ECHELON_VERIFY_BUDGET_MS',
    30000,
    integer(100, 3600000),
    'Time after which a batch counts as unverifiable',
  ),
  verifyBudgetBytes: setting(
    'ECHELON_VERIFY_BUDGET_BYTES',
    268435456,
    integer(1048576, 17179869184),
    'Memory of one verification',
  ),
  logLevel: setting(
    'ECHELON_LOG_LEVEL',
    'info',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'What is logged',
  ),
  python: setting('ECHELON_PYTHON', 'python3', text, 'Python of the local Ray; `npm run` sets it'),
} as const;

/** The value of every setting. */
export type Settings = {
  -readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends { fallback: infer T } ? T : never;
};

// Set by `npm run` for its own ends, or read by the CLI's options: known, but not settings of a server.
const FOREIGN = [
  'ECHELON_ISOLATED',
  'ECHELON_URL',
  'ECHELON_TOKEN',
  'ECHELON_CONFIG',
  'ECHELON_CONTEXT',
  'ECHELON_SECRETS_DIR',
];
/** Values of secrets, for the ray-worker of a local Ray: the rest of the name is the secret's. */
const SECRET_PREFIX = 'ECHELON_SECRET_';

/** The text of a setting: its variable, or for a secret the file that `<VARIABLE>_FILE` names; '' where it is not set. */
function textOf({ variable, secret }: Setting<unknown>, environment: NodeJS.ProcessEnv): string {
  const value = environment[variable] ?? '';
  const file = secret ? (environment[`${variable}_FILE`] ?? '') : '';
  if (file === '') return value;
  if (value !== '') throw new SettingsError(`and ${variable}_FILE are both set; keep one`);
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new SettingsError(`cannot be read from its file: ${(error as Error).message}`);
  }
  if (content === '') throw new SettingsError(`has an empty file: ${file}`);
  return content;
}

/** The archive is one place, and a bucket needs both of its keys. */
function archiveProblems({
  archiveDir,
  archiveUrl,
  archiveAccessKey,
  archiveSecretKey,
}: Partial<Settings>): string[] {
  if (archiveUrl && archiveDir) return ['ECHELON_ARCHIVE_URL and ECHELON_ARCHIVE_DIR are both set; keep one'];
  const keys = [archiveAccessKey, archiveSecretKey].filter((key) => key);
  if (archiveUrl && keys.length < 2)
    return ['ECHELON_ARCHIVE_URL needs ECHELON_ARCHIVE_ACCESS_KEY and ECHELON_ARCHIVE_SECRET_KEY'];
  if (!archiveUrl && keys.length > 0)
    return ['ECHELON_ARCHIVE_ACCESS_KEY and …_SECRET_KEY are for ECHELON_ARCHIVE_URL, which is not set'];
  return [];
}

/**
 * Reads the environment. Throws {@link SettingsError} listing everything that is wrong, an unknown `ECHELON_…`
 * variable included, since a misspelt setting would otherwise be silently without effect.
 */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  const problems: string[] = [];
  const settings: Record<string, unknown> = {};
  for (const [name, one] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const { variable, fallback, read } = one;
    try {
      const value = textOf(one, environment);
      settings[name] = value === '' ? fallback : read(value);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      problems.push(`${variable} ${error.message}`);
    }
  }
  const known = Object.values<Setting<unknown>>(SETTINGS)
    .flatMap(({ variable, secret }) => (secret ? [variable, `${variable}_FILE`] : [variable]))
    .concat(FOREIGN);
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith('ECHELON_') || known.includes(variable)) continue;
    if (variable.startsWith(SECRET_PREFIX)) continue;
    problems.push(`${variable} is not a setting; did you mean ${closest(variable, known)}?`);
  }
  problems.push(...archiveProblems(settings as Settings));
  if (problems.length > 0)
    throw new SettingsError(`The environment is not usable:\n  ${problems.join('\n  ')}`);
  return settings as Settings;
}

/** The values of the settings that are secret. */
export function secretsOf(settings: Settings): string[] {
  return Object.entries<Setting<unknown>>(SETTINGS).flatMap(([name, { secret }]) => {
    const value = secret ? settings[name as keyof Settings] : null;
    return [value].flat().filter((one) => typeof one === 'string');
  });
}

/** The settings of this process. The one place that reads `process.env`. */
export function processSettings(): Settings {
  return loadSettings(process.env);
}

/** The variables that a process we start inherits; it is the caller's to add to a copy. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env };
}
