import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import type { Output } from 'command-kit/output';
import { Command } from 'commander';
import { readLogin, saveLogin, stateDirOption } from '../connection.ts';
import { hasBrowser, openInBrowser } from './open.ts';

/** A person has this time to sign in. */
const PATIENCE_MS = 10 * 60_000;

interface Options {
  url?: string;
  stateDir: string;
  device?: boolean;
}

/** What the API answers to a sign-in. */
interface SignedIn {
  token: string;
  expiresAt: number;
  name: string;
  project: string | null;
  scopes: string[];
}

/** `echelon login`: a token of 12 hours for a person, by the OpenID provider of the API. */
function loginCommand(output: Output): Command {
  return new Command('login')
    .description(
      'Sign in with your organisation, in the browser. The token is valid for 12 hours. Commands use this API from then on, until its file, login.json in the state directory, is deleted.',
    )
    .option('--url <url>', 'address of the API. Default: that of the last sign-in')
    .option('--device', 'print a code to enter in a browser on another device')
    .addOption(stateDirOption())
    .addHelpText(
      'after',
      examples('echelon login --url https://echelon.example.org', 'echelon login --device'),
    )
    .action(async (options: Options) => {
      const url = await urlOf(options);
      const { processEnvironment } = await import('../../main.ts');
      const environment = processEnvironment();
      const byDevice = options.device || !hasBrowser(environment);
      const signedIn = byDevice ? await viaDevice(url, output) : await viaBrowser(url, output, environment);
      const { token, expiresAt, name, project, scopes } = signedIn;
      await saveLogin(options.stateDir, { url, token });
      const where = project === null ? 'all projects' : `the project ${project}`;
      output.line(
        `Signed in as ${inert(name)} until ${new Date(expiresAt).toISOString()}: ${scopes.join(', ')} in ${where}.`,
      );
    });
}

async function urlOf({ url, stateDir }: Options): Promise<string> {
  const given = url ?? (await readLogin(stateDir))?.url;
  if (given === undefined || !/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new CliError(EXIT.usage, 'Name the API: `echelon login --url https://HOST`.');
  return given.replace(/\/+$/, '');
}

/** The browser comes back to this process with a code, which is of use with `verifier` only. */
async function viaBrowser(url: string, output: Output, environment: NodeJS.ProcessEnv): Promise<SignedIn> {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const codes = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const code = new URL(request.url ?? '/', 'http://localhost').searchParams.get('code');
    response.writeHead(code === null ? 404 : 200, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    });
    response.end(code === null ? 'Nothing is here.\n' : 'You are signed in. Close this page.\n');
    if (code !== null) codes.resolve(code);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const page = `${url}/login/oidc?port=${port}&challenge=${challenge}`;
    // src/http/server/pages.ts shows the same part.
    const code = challenge.slice(0, 8);
    output.remark(
      `Confirm the code ${code} in the browser. If none opens, use this link on this machine:\n  ${page}`,
    );
    await openInBrowser(page, environment);
    const late = delay(PATIENCE_MS, undefined, { ref: false }).then(() => tooLate());
    return (await post(url, '/login/token', { code: await Promise.race([codes.promise, late]), verifier }))!;
  } finally {
    server.close();
  }
}

async function viaDevice(url: string, output: Output): Promise<SignedIn> {
  const begun = await post<{ url: string; code: string; intervalMs: number; device: string }>(
    url,
    '/login/device',
    {},
  );
  output.remark(`Open ${inert(begun!.url)} on any device and confirm the code ${inert(begun!.code)}.`);
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    await delay(begun!.intervalMs);
    const signedIn = await post(url, '/login/token', { device: begun!.device });
    if (signedIn !== undefined) return signedIn;
  }
  return tooLate();
}

function tooLate(): never {
  throw new CliError(EXIT.refused, 'There was no sign-in within ten minutes. Run the command again.');
}

/** An answer; undefined: there is none yet. */
async function post<T = SignedIn>(url: string, path: string, body: object): Promise<T | undefined> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((error: Error) => {
    throw new CliError(EXIT.unreachable, `No answer from ${url}: ${error.message}. Check --url.`);
  });
  const said = (await answer.json().catch(() => ({}))) as T & { detail?: string; code?: string };
  if (answer.status === 404)
    throw new CliError(
      EXIT.refused,
      `${url} has no sign-in for people. Use an API key: --token or ECHELON_TOKEN.`,
    );
  if (!answer.ok) throw new CliError(EXIT.refused, inert(said.detail ?? `HTTP ${answer.status}`), said.code);
  return answer.status === 202 ? undefined : said;
}

/** The commands of this module by their names. */
export const commands = { login: loginCommand };
