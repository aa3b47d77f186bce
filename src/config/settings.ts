import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { type BucketPlace, parseBucket } from './bucket.ts';
import { type OidcGrant, oidcProblems, parseGrants, parseIssuer } from './oidc.ts';
import {
  address,
  addresses,
  domains,
  flag,
  integer,
  list,
  networks,
  oneOf,
  parsed,
  prices,
  SettingsError,
  secretText,
  smtp,
  text,
  tokenList,
} from './read-setting.ts';

export { SettingsError };

/** One setting: its variable, how its text is read, and its value if the variable is not set. */
interface Setting<T> {
  variable: string;
  doc: string;
  fallback: T;
  read: (text: string) => T;
  /** The value may also come from a file, which `<VARIABLE>_FILE` names. */
  secret?: true;
}

function setting<T>(variable: string, fallback: T, read: (text: string) => T, doc: string): Setting<T> {
  return { variable, fallback, read, doc };
}

/** Every setting. The settings page and the environments of chart and compose are checked against it. */
export const SETTINGS = {
  stateDir: setting(
    'ECHELON_STATE_DIR',
    join(homedir(), '.echelon'),
    text,
    'Directory in which `echelon up` keeps its data',
  ),
  redisUrl: {
    ...setting<string | null>(
      'REDIS_URL',
      null,
      text,
      'URL of the Redis server: redis://, or rediss:// for TLS. If not set, `echelon up` starts its own. A server that is not fit to keep accepted experiments ends the program',
    ),
    secret: true,
  },
  redisPassword: {
    ...setting<string | null>(
      'REDIS_PASSWORD',
      null,
      text,
      'Password of the Redis server, if REDIS_URL has none',
    ),
    secret: true,
  },
  redisPrefix: setting('ECHELON_REDIS_PREFIX', 'echelon', text, 'Prefix of every Redis key'),
  allowUnfitRedis: setting(
    'ECHELON_ALLOW_UNFIT_REDIS',
    false,
    flag,
    'Run on a Redis server that may lose accepted experiments, or that is reachable without a password',
  ),
  redisTimeoutMs: setting(
    'ECHELON_REDIS_TIMEOUT_MS',
    5000,
    integer(100, 600000),
    'Milliseconds that the api waits for Redis before it answers 503. A dispatcher waits for at least the time of its lease. A connection without an answer for that time is replaced',
  ),
  startWaitMs: setting(
    'ECHELON_START_WAIT_MS',
    60000,
    integer(0, 3600000),
    'Milliseconds that a starting process waits for Redis to answer before it ends',
  ),
  archiveDir: setting<string | null>(
    'ECHELON_ARCHIVE_DIR',
    null,
    text,
    'Directory of the archive (batches above 64 kB, finished streams), shared by all dispatchers and apis. Default: `archive` in the state directory',
  ),
  archiveUrl: setting<BucketPlace | null>(
    'ECHELON_ARCHIVE_URL',
    null,
    parsed(parseBucket),
    'S3 bucket of the archive, instead of a directory: s3://bucket/prefix?endpoint=https://host&region=name. Default of `endpoint`: Amazon S3',
  ),
  archiveAccessKey: {
    ...setting<string | null>('ECHELON_ARCHIVE_ACCESS_KEY', null, text, 'Access key id of the S3 bucket'),
    secret: true,
  },
  archiveSecretKey: {
    ...setting<string | null>('ECHELON_ARCHIVE_SECRET_KEY', null, text, 'Secret access key of the S3 bucket'),
    secret: true,
  },
  backupAccessKey: {
    ...setting<string | null>(
      'ECHELON_BACKUP_ACCESS_KEY',
      null,
      text,
      'Access key id of the S3 bucket of backups. Default: that of the archive',
    ),
    secret: true,
  },
  backupSecretKey: {
    ...setting<string | null>(
      'ECHELON_BACKUP_SECRET_KEY',
      null,
      text,
      'Secret access key of the S3 bucket of backups. Default: that of the archive',
    ),
    secret: true,
  },
  host: setting('ECHELON_HOST', '127.0.0.1', text, 'Address on which the api listens'),
  port: setting(
    'ECHELON_PORT',
    7077,
    integer(0, 65535),
    'Port on which the api listens. 0 selects a free port',
  ),
  publicUrl: setting<string | null>(
    'ECHELON_PUBLIC_URL',
    null,
    address,
    'URL of the api as browsers reach it, for example through a proxy. Session cookies and origins of writes must have its scheme. Default: the address on which the api listens',
  ),
  grafanaUrl: setting<string | null>(
    'ECHELON_GRAFANA_URL',
    null,
    address,
    'URL of a Grafana that the dashboard links to. Default: no link',
  ),
  gpuPrices: setting<Record<string, number>>(
    'ECHELON_GPU_PRICES',
    {},
    prices,
    'Prices of a GPU hour for `echelon usage`, separated by commas: TYPE=PRICE, CLUSTER/TYPE=PRICE, or * for TYPE. TYPE is the label ray.io/accelerator-type of the nodes. Default: no prices',
  ),
  tokens: {
    ...setting<string[]>(
      'ECHELON_TOKENS',
      [],
      tokenList,
      'Administrator tokens with all scopes, separated by commas or lines. API keys are created with them. Default: one generated token in the state directory',
    ),
    secret: true,
  },
  cookieSecret: {
    ...setting<string | null>(
      'ECHELON_COOKIE_SECRET',
      null,
      secretText(32),
      'Key that signs cookies, the same for every replica of the api. Default: a generated key in the state directory',
    ),
    secret: true,
  },
  oidcIssuer: setting<string | null>(
    'ECHELON_OIDC_ISSUER',
    null,
    (value) => parsed(parseIssuer)(value).issuer,
    'Issuer of the OpenID provider by which people sign in. Default: people sign in with API keys',
  ),
  oidcClientId: setting<string | null>(
    'ECHELON_OIDC_CLIENT_ID',
    null,
    text,
    'Client id at the OpenID provider. Its redirect URI is the public URL with /login/oidc/callback',
  ),
  oidcClientSecret: {
    ...setting<string | null>(
      'ECHELON_OIDC_CLIENT_SECRET',
      null,
      text,
      'Client secret at the OpenID provider',
    ),
    secret: true,
  },
  oidcScopes: setting(
    'ECHELON_OIDC_SCOPES',
    'openid profile email',
    text,
    'Scopes that are asked of the OpenID provider, separated by spaces. Some providers need one more for groups',
  ),
  oidcGroupsClaim: setting(
    'ECHELON_OIDC_GROUPS_CLAIM',
    'groups',
    text,
    'Claim of the OpenID provider that has the groups of a person',
  ),
  oidcGrants: setting<OidcGrant[]>(
    'ECHELON_OIDC_GRANTS',
    [],
    parsed((value) => parseGrants(list(value))),
    'What members of a group may do, separated by commas: GROUP=PROJECT:SCOPE+SCOPE; * is all projects. The first group of a person counts',
  ),
  allowedHosts: setting<string[]>(
    'ECHELON_ALLOWED_HOSTS',
    ['localhost', '127.0.0.1', '[::1]'],
    list,
    'Host names that requests to the api may use',
  ),
  promptEndpoints: setting<string[]>(
    'ECHELON_PROMPT_ENDPOINTS',
    ['https://api.openai.com', 'https://generativelanguage.googleapis.com'],
    addresses,
    'Endpoints that experiments of the engine `prompt` may call without the scope custom-code: scheme, host and port, separated by commas',
  ),
  notifySecretsDir: setting<string | null>(
    'ECHELON_NOTIFY_SECRETS_DIR',
    null,
    text,
    'Directory of the dispatchers with the secrets that subscriptions name, as files PROJECT/NAME. Default: none',
  ),
  notifyPrivate: setting<string[]>(
    'ECHELON_NOTIFY_PRIVATE',
    [],
    networks,
    'Addresses and networks, such as 10.1.0.0/16, to which notifications may be sent although they are not public. Default: none',
  ),
  smtpUrl: {
    ...setting<string | null>(
      'ECHELON_SMTP_URL',
      null,
      smtp,
      'SMTP server of e-mail notifications: smtps://user:password@host:port, or smtp://',
    ),
    secret: true,
  },
  mailDomains: setting<string[]>(
    'ECHELON_MAIL_DOMAINS',
    [],
    domains,
    'Domains to which notifications may be sent by e-mail, separated by commas. Subdomains are not included. The same for api and dispatcher. Default: none',
  ),
  smtpFrom: setting<string | null>(
    'ECHELON_SMTP_FROM',
    null,
    text,
    'Sender of e-mail notifications, such as echelon@example.com',
  ),
  metricsPort: setting(
    'ECHELON_METRICS_PORT',
    0,
    integer(0, 65535),
    'Port of /metrics, /healthz and /readyz, which need no token. 0 turns it off',
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
    'Milliseconds without a renewal after which another dispatcher takes over an attempt',
  ),
  cordonAfterFaults: setting(
    'ECHELON_CORDON_AFTER_FAULTS',
    3,
    integer(0, 1000),
    'Faults of the cluster on a node within ECHELON_CORDON_MINUTES after which no new experiment starts there. 0: nodes are only cordoned by operators',
  ),
  cordonMinutes: setting(
    'ECHELON_CORDON_MINUTES',
    60,
    integer(1, 10080),
    'Minutes after which a node that was cordoned for its faults is released',
  ),
  preemptWithinMs: setting(
    'ECHELON_PREEMPT_WITHIN_MS',
    300_000,
    integer(1_000, 86_400_000),
    'Milliseconds that a preempted experiment has to stop. An urgent experiment that is expected to start as soon without preempts nothing. The same for api and dispatcher',
  ),
  verifyProcesses: setting(
    'ECHELON_VERIFY_PROCESSES',
    1,
    integer(1, 64),
    'Child processes that verify batches at the same time',
  ),
  verifyBudgetMs: setting(
    'ECHELON_VERIFY_BUDGET_MS',
    30000,
    integer(100, 3600000),
    'Milliseconds after which the verification of a batch stops and its rows are unverifiable',
  ),
  verifyBudgetBytes: setting(
    'ECHELON_VERIFY_BUDGET_BYTES',
    268435456,
    integer(1048576, 17179869184),
    'Bytes of memory that the verification of one batch may use in its child process',
  ),
  logLevel: setting(
    'ECHELON_LOG_LEVEL',
    'info',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'Lowest level that is logged: debug, info, warn, error or silent',
  ),
  python: setting(
    'ECHELON_PYTHON',
    'python3',
    text,
    'Python interpreter of the local Ray. `npm run` sets it',
  ),
} as const;

/** The value of every setting. */
export type Settings = {
  -readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends { fallback: infer T } ? T : never;
};

// Read by `npm run`, by the command line or by the ray-worker: known, but not settings of a server.
const FOREIGN = ['ECHELON_ISOLATED', 'ECHELON_URL', 'ECHELON_TOKEN', 'ECHELON_SECRETS_DIR'];
/** Variables with values of secrets, for the ray-worker of a local Ray. The rest of the name is the name of the secret. */
const SECRET_PREFIX = 'ECHELON_SECRET_';

/** The text of a setting: its variable, or for a secret the file that `<VARIABLE>_FILE` names. '' if not set. */
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

/** The archive is either a directory or a bucket, and a bucket needs both of its keys. */
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
 * variable included: a misspelt setting would otherwise have no effect.
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
  problems.push(...archiveProblems(settings as Settings), ...oidcProblems(settings as Settings));
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

/** The settings by their variables, for people: of a secret, whether it is set. */
export function shownSettings(settings: Settings): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries<Setting<unknown>>(SETTINGS).map(([name, { variable, secret }]) => {
      const value = settings[name as keyof Settings];
      const isSet = Array.isArray(value) ? value.length > 0 : value !== null;
      return [variable, secret ? isSet : value];
    }),
  );
}

/** The settings of this process. The one place that reads `process.env`. */
export function processSettings(): Settings {
  return loadSettings(process.env);
}

/**
 * The variables that a process we start inherits, such as a local Ray with its trainings: none of those that hold our secrets,
 * or name files with them. It is the caller's to add to a copy.
 */
export function processEnvironment(): NodeJS.ProcessEnv {
  const secrets = Object.values<Setting<unknown>>(SETTINGS).filter(({ secret }) => secret);
  const ours = new Set(secrets.flatMap(({ variable }) => [variable, `${variable}_FILE`]));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.has(name)));
}
