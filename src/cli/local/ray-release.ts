import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { CliError, EXIT } from 'command-kit/exit';

const run = promisify(execFile);

/** The first release that asks for a token; older ones ignore it. */
const FIRST_WITH_TOKENS = [2, 52] as const;

/** Loading Ray takes a second of each start; what was installed says it at once, except of a Ray that lies in a folder. */
const VERSION = `
from importlib import metadata
try:
    print(metadata.version("ray"))
except metadata.PackageNotFoundError:
    import ray
    print(ray.__version__)
`;

/** The version of the Ray that a Python imports. A {@link CliError} if there is none. */
export async function rayVersion(python: string, environment: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout } = await run(python, ['-c', VERSION], { env: environment, timeout: 60_000 });
    return stdout.trim();
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string; stderr?: string };
    const why =
      code === 'ENOENT' ? 'there is no such program' : (stderr.trim().split('\n').at(-1) ?? 'no answer');
    throw new CliError(
      EXIT.notOk,
      `${python} cannot import Ray (${why}). Name the Python of your trainer with --python, or see \`echelon doctor\`.`,
    );
  }
}

/** Whether a release asks for a token. */
export function hasTokens(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > FIRST_WITH_TOKENS[0] || (major === FIRST_WITH_TOKENS[0] && minor >= FIRST_WITH_TOKENS[1]);
}

/** True if Ray's own TLS is on, which is mutual: without a certificate of its authority there is no connection. */
export const hasTls = (environment: NodeJS.ProcessEnv): boolean =>
  /^(1|true)$/i.test(environment.RAY_USE_TLS ?? '');

/** Addresses of this machine that other machines may reach. */
function openAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ internal }) => !internal).map(({ address }) => address),
  );
}

/**
 * A {@link CliError} where a Ray would let in everyone who reaches this machine: a release without tokens and without TLS,
 * whose control store and raylet listen on all interfaces, whatever the name of the machine resolves to.
 */
export function requireClosed(
  version: string,
  environment: NodeJS.ProcessEnv,
  addresses: readonly string[] = openAddresses(),
): void {
  if (hasTokens(version) || hasTls(environment) || addresses.length === 0) return;
  throw new CliError(
    EXIT.notOk,
    [
      `Ray ${version} knows no tokens: on ${addresses[0]} every program that reaches this machine could run code as you, so it is not started. Do one of:`,
      `  install Ray 2.52 or newer into that Python; verl-agent's bound of 2.50 is older than tokens, and its recipes run with 2.60`,
      '  turn on the TLS of Ray: RAY_USE_TLS=1 with RAY_TLS_SERVER_CERT, RAY_TLS_SERVER_KEY and RAY_TLS_CA_CERT',
      '  start Echelon where only loopback exists, such as a container without a network or `unshare --net`',
    ].join('\n'),
  );
}
