import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ChannelCredentials, credentials as grpcCredentials } from '@grpc/grpc-js';

/** Keys for a TLS connection, as PEM. Ray's own TLS is mutual: it asks for all three. */
export interface TlsOptions {
  /** Certificate authorities that the server is checked against; absent: those of the system. */
  readonly ca?: string | Uint8Array;
  /** This side's certificate. */
  readonly cert?: string | Uint8Array;
  /** Private key of `cert`. */
  readonly key?: string | Uint8Array;
  /** Name to expect in the server's certificate. Default: the host of the address. */
  readonly serverName?: string;
}

/** What this side proves itself with. */
export interface RayCredentials {
  readonly token?: string;
  readonly tls?: TlsOptions;
}

/** How {@link credentialsFromEnvironment} gets at files; tests give their own. */
export interface CredentialFiles {
  /** Text of a file. Throws if it cannot be read. */
  read(path: string): string;
  /** The home directory of the user. */
  home(): string;
}

const FILES: CredentialFiles = { read: (path) => readFileSync(path, 'utf8'), home: homedir };

/**
 * Token and keys from the variables that Ray itself reads: RAY_AUTH_TOKEN, else the file named by
 * RAY_AUTH_TOKEN_PATH, else `~/.ray/auth_token`; RAY_USE_TLS with RAY_TLS_SERVER_CERT, RAY_TLS_SERVER_KEY and
 * RAY_TLS_CA_CERT (paths). Throws if a named file cannot be read or is empty, and if TLS is half
 * configured; a missing `~/.ray/auth_token` means that there is no token.
 */
export function credentialsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  files: CredentialFiles = FILES,
): RayCredentials {
  const token = tokenFrom(environment, files);
  const tls = tlsFrom(environment, files);
  return { ...(token === undefined ? {} : { token }), ...(tls === undefined ? {} : { tls }) };
}

function tokenFrom(
  environment: Readonly<Record<string, string | undefined>>,
  files: CredentialFiles,
): string | undefined {
  const direct = environment.RAY_AUTH_TOKEN?.trim();
  if (direct) return direct;
  const path = environment.RAY_AUTH_TOKEN_PATH;
  if (path) {
    const token = named(files, 'RAY_AUTH_TOKEN_PATH', path).trim();
    if (token === '') throw new Error(`RAY_AUTH_TOKEN_PATH: ${path} is empty`);
    return token;
  }
  try {
    return files.read(join(files.home(), '.ray', 'auth_token')).trim() || undefined;
  } catch {
    return undefined;
  }
}

function tlsFrom(
  environment: Readonly<Record<string, string | undefined>>,
  files: CredentialFiles,
): TlsOptions | undefined {
  if (!['1', 'true'].includes((environment.RAY_USE_TLS ?? '').toLowerCase())) return undefined;
  const pem = (variable: string): string => {
    const path = environment[variable];
    if (!path) throw new Error(`RAY_USE_TLS is set, but ${variable} is not`);
    return named(files, variable, path);
  };
  return { ca: pem('RAY_TLS_CA_CERT'), cert: pem('RAY_TLS_SERVER_CERT'), key: pem('RAY_TLS_SERVER_KEY') };
}

function named(files: CredentialFiles, variable: string, path: string): string {
  try {
    return files.read(path);
  } catch (error) {
    throw new Error(`${variable}: ${path} cannot be read`, { cause: error });
  }
}

/** Channel credentials for `tls`; plain text without it. */
export function channelCredentials(tls: TlsOptions | undefined): ChannelCredentials {
  if (tls === undefined) return grpcCredentials.createInsecure();
  return grpcCredentials.createSsl(pemBuffer(tls.ca), pemBuffer(tls.key), pemBuffer(tls.cert));
}

function pemBuffer(pem: string | Uint8Array | undefined): Buffer | null {
  if (pem === undefined) return null;
  return typeof pem === 'string' ? Buffer.from(pem) : Buffer.from(pem);
}
