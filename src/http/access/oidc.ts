import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  genericGrantRequest,
  initiateDeviceAuthorization,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client';
import { EchelonError } from '../../core/errors.ts';
import type { Scope } from '../../core/scopes.ts';

/** How people sign in by an OpenID provider. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Asked of the provider, separated by spaces. */
  scopes: string;
  /** Claim with the groups of a person. */
  groupsClaim: string;
  /** The first one of whose groups a person is a member counts. */
  grants: readonly OidcGrant[];
}

/** What the members of a group may do. */
export interface OidcGrant {
  group: string;
  /** null: all projects. */
  project: string | null;
  scopes: readonly Scope[];
}

/** Someone whom the provider has identified, with the rights of its groups. */
export interface Person {
  subject: string;
  name: string;
  project: string | null;
  scopes: readonly Scope[];
}

/** What a browser keeps between its way to the provider and back. */
export interface OidcChecks {
  verifier: string;
  state: string;
  nonce: string;
}

/** Seconds by which the clocks of the provider and of this machine may differ. */
const SKEW_SECONDS = 60;
const TIMEOUT_SECONDS = 10;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export type Oidc = ReturnType<typeof createOidc>;

/**
 * The client of an OpenID provider: authorization code with PKCE, and the device flow. Its methods throw EchelonError
 * `identity-unavailable` if the provider does not answer, `unauthenticated` if it or a check refuses, and `forbidden` for a
 * person without a grant.
 */
export function createOidc(settings: OidcSettings) {
  const redirectOf = (publicUrl: string) => `${publicUrl}/login/oidc/callback`;
  let found: Promise<Configuration> | undefined;

  /** Read once; again after a failure. */
  function provider(): Promise<Configuration> {
    found ??= discover(settings).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  }

  const guarded = async <T>(act: (config: Configuration) => Promise<T>): Promise<T> => {
    const config = await provider().catch((error: Error) => {
      throw unavailable(error, settings.issuer);
    });
    return await act(config).catch((error: unknown) => {
      throw toEchelonError(error, settings.issuer);
    });
  };

  return {
    /** Where a browser goes to sign in, and what must come back with it. */
    begin: (publicUrl: string) =>
      guarded(async (config) => {
        const checks = { verifier: randomPKCECodeVerifier(), state: randomState(), nonce: randomNonce() };
        const url = buildAuthorizationUrl(config, {
          redirect_uri: redirectOf(publicUrl),
          scope: settings.scopes,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
          state: checks.state,
          nonce: checks.nonce,
        });
        return { url: url.href, checks };
      }),

    /** Who came back, by the query of the callback. */
    finish: (publicUrl: string, query: string, { verifier, state, nonce }: OidcChecks) =>
      guarded(async (config) => {
        const url = new URL(`${redirectOf(publicUrl)}${query}`);
        const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
        return await personOf(
          settings,
          config,
          await authorizationCodeGrant(config, url, { ...checks, idTokenExpected: true }),
        );
      }),

    /** Begins a sign-in on another device. */
    beginDevice: () => guarded((config) => initiateDeviceAuthorization(config, { scope: settings.scopes })),

    /** Who has signed in on another device; undefined if that has not happened yet. */
    pollDevice: (code: string) =>
      guarded(async (config) => {
        const tokens = await poll(config, code);
        return tokens && (await personOf(settings, config, tokens));
      }),
  };
}

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

async function poll(config: Configuration, device_code: string): Promise<Tokens | undefined> {
  try {
    return await genericGrantRequest(config, DEVICE_GRANT, { device_code });
  } catch (error) {
    if (/^(authorization_pending|slow_down)$/.test((error as { error?: string }).error ?? ''))
      return undefined;
    throw error;
  }
}

async function personOf(settings: OidcSettings, config: Configuration, tokens: Tokens): Promise<Person> {
  const claims = tokens.claims();
  if (claims === undefined) throw new EchelonError('unauthenticated', 'The provider sent no identity.');
  // The standard leaves this to the client.
  if (claims.iat > Date.now() / 1000 + SKEW_SECONDS)
    throw new EchelonError('unauthenticated', 'The sign-in was refused: the clock of the provider is ahead.');
  const isWhole = claims[settings.groupsClaim] !== undefined && claims.email !== undefined;
  const more = isWhole ? {} : await fetchUserInfo(config, tokens.access_token, claims.sub);
  return withGrant(settings, { ...more, ...claims });
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const url = new URL(issuer);
  // The signature of an ID token is verified too: between us and the provider there may be a proxy that ends TLS. The settings
  // allow http for a provider on this machine only.
  const insecure = url.protocol === 'http:' ? [allowInsecureRequests] : [];
  const execute = [enableNonRepudiationChecks, ...insecure];
  const config = await discovery(
    url,
    clientId,
    { client_secret: clientSecret, [clockTolerance]: SKEW_SECONDS },
    undefined,
    {
      execute,
      timeout: TIMEOUT_SECONDS,
    },
  );
  config.timeout = TIMEOUT_SECONDS;
  return config;
}

/** The person of these claims. Only a verified or unstated address serves as a name. */
function withGrant({ groupsClaim, grants }: OidcSettings, claims: Record<string, unknown>): Person {
  const text = (name: string) => (typeof claims[name] === 'string' ? (claims[name] as string) : undefined);
  const subject = text('sub')!;
  const groups = [claims[groupsClaim] ?? []].flat();
  const grant = grants.find(({ group }) => groups.includes(group));
  const email = claims.email_verified === false ? undefined : text('email');
  const name = (email ?? text('preferred_username') ?? subject).replace(/[^\x21-\x7e]/g, '_').slice(0, 100);
  if (grant !== undefined) return { subject, name, project: grant.project, scopes: grant.scopes };
  throw new EchelonError(
    'forbidden',
    `${name} is in no group that may use this installation. Ask its administrator.`,
  );
}

function toEchelonError(error: unknown, issuer: string): EchelonError {
  if (error instanceof EchelonError) return error;
  const { message, code = '', cause } = error as Error & { code?: string };
  const isRefusal = error instanceof AuthorizationResponseError || error instanceof ResponseBodyError;
  if (!isRefusal && (error instanceof TypeError || /TIMEOUT|RESPONSE_IS_NOT/.test(code)))
    return unavailable(error as Error, issuer);
  const said = isRefusal ? error.error : code || (cause instanceof Error ? cause.message : message);
  return new EchelonError('unauthenticated', `The sign-in was refused (${said}). Sign in again.`, {
    cause: error,
  });
}

function unavailable(cause: Error, issuer: string): EchelonError {
  return new EchelonError(
    'identity-unavailable',
    `The OpenID provider ${issuer} does not answer as expected: ${cause.message}. Try again, or sign in with an API key.`,
    { cause },
  );
}
