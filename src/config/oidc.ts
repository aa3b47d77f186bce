import { SCOPES, type Scope } from '../core/scopes.ts';

/** What the members of a group of an OpenID provider may do. */
export interface OidcGrant {
  group: string;
  /** null: all projects. */
  project: string | null;
  scopes: Scope[];
}

/** An issuer as it is written, because it is compared with its path; or what is wrong with it. */
export function parseIssuer(value: string): { issuer: string } | string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return { issuer: value };
  return 'must begin with https://; http:// is for loopback addresses only';
}

/** Reads GROUP=PROJECT:SCOPE+SCOPE, or says what is wrong with it. */
export function parseGrants(items: readonly string[]): OidcGrant[] | string {
  const grants: OidcGrant[] = [];
  for (const item of items) {
    const [, group, project, names = ''] = /^(.+)=([^:=]+):([a-z+-]+)$/.exec(item) ?? [];
    const scopes = SCOPES.filter((scope) => names.split('+').includes(scope));
    if (!group || !project || scopes.length !== names.split('+').length)
      return `must have items of the form GROUP=PROJECT:SCOPE+SCOPE with scopes of ${SCOPES.join(', ')}, not "${item}"`;
    if (project !== '*' && scopes.includes('admin'))
      return `gives admin to a group of one project, which is not possible: "${item}"`;
    grants.push({ group, project: project === '*' ? null : project, scopes });
  }
  return grants;
}

/** Sign-in by a provider needs all of its settings. */
export function oidcProblems(settings: {
  oidcIssuer?: string | null;
  oidcClientId?: string | null;
  oidcClientSecret?: string | null;
  oidcGrants?: readonly OidcGrant[];
}): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcGrants = [] } = settings;
  const set = [oidcIssuer, oidcClientId, oidcClientSecret, oidcGrants[0]].filter(Boolean).length;
  return set === 0 || set === 4
    ? []
    : ['ECHELON_OIDC_ISSUER, …_CLIENT_ID, …_CLIENT_SECRET and …_GRANTS belong together; set all or none'];
}
