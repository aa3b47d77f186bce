import { createServer } from 'node:http';
import { shiftClock } from './shifted-clock.ts';

/*
 * A real OpenID provider in a process of its own, with a clock of its own. Its pages ask for a name and for consent.
 * argv: issuer, client id, client secret, redirect URI. Messages change the groups of people, and the clock.
 */

// The package has no types.
const { Provider } = (await import('oidc-provider' as string)) as {
  Provider: new (issuer: string, configuration: object) => { callback(): Parameters<typeof createServer>[1] };
};

const [issuer, clientId, clientSecret, redirectUri] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
];
let people: Record<string, string[]> = {};
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    },
  ],
  claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: [] },
  features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
  async findAccount(_context: unknown, id: string) {
    const groups = people[id];
    if (groups === undefined) return undefined;
    const claims = { sub: id, email: `${id}@example.org`, email_verified: true, groups };
    return { accountId: id, claims: async () => claims };
  },
  // Seconds. It has expired if this clock is late.
  ttl: { IdToken: 60 },
  cookies: { keys: ['keys of the provider'] },
});
const server = createServer(provider.callback());
server.listen(Number(new URL(issuer).port), '127.0.0.1', () => process.send?.('listens'));
process.on('message', (change: { people?: typeof people; clockMs?: number }) => {
  people = change.people ?? people;
  if (change.clockMs !== undefined) shiftClock(change.clockMs);
  process.send?.('changed');
});
process.on('disconnect', () => process.exit());
