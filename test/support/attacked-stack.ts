import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { SMTPServer } from 'smtp-server';
import { dnsServerFor } from './dns-server.ts';
import { type Receiver, receiverFor, secretsFor } from './notifications.ts';
import { OIDC_CLIENT, type OpenIdProvider, openIdProviderFor } from './openid-provider.ts';
import { freePort } from './redis.ts';
import { S3_BUCKET, S3_KEYS, type S3Server, s3ServerFor } from './s3-server.ts';
import type { Scope } from './store.ts';
import { type System, startSystem } from './system.ts';

/** Names that the DNS of the stack resolves. Only the first may be reached. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'hook.test': ['127.0.0.1'],
  'inner.test': ['127.0.0.2'],
  'both.test': ['93.184.216.34', '127.0.0.2'],
  'six.test': ['::1'],
  'mapped.test': ['::ffff:7f00:2'],
  'metadata.test': ['169.254.169.254'],
};

/** The whole system, and stand-ins for everything that it speaks to. */
export interface AttackedStack {
  system: System;
  s3: S3Server;
  provider: OpenIdProvider;
  /** The receiver at hook.test, which may be reached. */
  receiver: Receiver;
  /** Its port, where other servers listen at 127.0.0.2 and ::1, and the requests that these got: there must be none. */
  port: number;
  inner: string[];
  mails: { to: string[]; text: string }[];
  /** What the api and the dispatcher have logged. */
  logs(): string;
}

/** Starts Redis, Ray, an api and a dispatcher in a network of its own. `secret`: the value of the cluster's secret `TRACKER`. */
export async function attackedStackFor(scope: Scope, secret: string): Promise<AttackedStack> {
  await dnsServerFor(scope, (name) => NAMES[name] ?? []);
  const receiver = await receiverFor(scope);
  const port = Number(new URL(receiver.url).port);
  const inner = await innerFor(scope, port);
  const { mails, url } = await mailServerFor(scope);
  const s3 = await s3ServerFor(scope);
  const apiPort = await freePort();
  const provider = await openIdProviderFor(scope, `http://127.0.0.1:${apiPort}`);
  await provider.change({ people: { ann: ['vision'], eve: ['others'] } });
  const system = await startSystem({
    wrap: await ownResolver(scope),
    environment: {
      ...process.env,
      ECHELON_SECRET_TRACKER: secret,
      ECHELON_PORT: String(apiPort),
      ECHELON_ARCHIVE_URL: `s3://${S3_BUCKET}/archive?endpoint=${s3.url}&region=${S3_KEYS.region}`,
      ECHELON_ARCHIVE_ACCESS_KEY: S3_KEYS.accessKey,
      ECHELON_ARCHIVE_SECRET_KEY: S3_KEYS.secretKey,
      ECHELON_OIDC_ISSUER: provider.issuer,
      ECHELON_OIDC_CLIENT_ID: OIDC_CLIENT.clientId,
      ECHELON_OIDC_CLIENT_SECRET: OIDC_CLIENT.clientSecret,
      ECHELON_OIDC_GRANTS: 'vision=vision:read+submit',
      ECHELON_NOTIFY_SECRETS_DIR: await secretsFor(scope),
      ECHELON_NOTIFY_PRIVATE: '127.0.0.1',
      ECHELON_SMTP_URL: url,
      ECHELON_SMTP_FROM: 'echelon@example.com',
      ECHELON_MAIL_DOMAINS: 'example.com',
    },
  });
  scope.after(() => system.stop());
  const dispatcher = await system.startDispatcher();
  const logs = () => system.api.log() + dispatcher.log();
  return { system, s3, provider, receiver, port, inner, mails, logs };
}

/** Runs a program with the DNS server of the stack: its /etc/resolv.conf is a file of ours. */
async function ownResolver(scope: Scope): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-resolver-'));
  scope.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'resolv.conf');
  await writeFile(file, 'nameserver 127.0.0.1\n');
  return ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"', file];
}

async function innerFor(scope: Scope, port: number): Promise<string[]> {
  const inner: string[] = [];
  for (const host of ['127.0.0.2', '::1']) {
    const server: Server = createServer((request, response) => {
      inner.push(`${host} ${request.method} ${request.url}`);
      response.end('{}');
    });
    server.listen(port, host);
    await once(server, 'listening');
    scope.after(async () => {
      server.closeAllConnections();
      server.close();
    });
  }
  return inner;
}

async function mailServerFor(scope: Scope) {
  const mails: AttackedStack['mails'] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      let text = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      stream.on('end', () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  scope.after(() => new Promise<void>((resolve) => server.close(resolve)));
  return { mails, url: `smtp://127.0.0.1:${(server.server.address() as { port: number }).port}` };
}

/** All keys and values of a Redis as text, for a search. */
export async function everythingIn(redis: Redis): Promise<string> {
  const parts: string[] = [];
  for (const key of await redis.keys('*')) {
    const type = await redis.type(key);
    if (type === 'hash') parts.push(key, JSON.stringify(await redis.hgetall(key)));
    if (type === 'list') parts.push(key, JSON.stringify(await redis.lrange(key, 0, -1)));
    if (type === 'set') parts.push(key, JSON.stringify(await redis.smembers(key)));
    if (type === 'zset') parts.push(key, JSON.stringify(await redis.zrange(key, '0', '-1')));
    if (type === 'stream') parts.push(key, JSON.stringify(await redis.xrange(key, '-', '+')));
    if (type === 'string') parts.push(key, (await redis.getBuffer(key))?.toString('latin1') ?? '');
  }
  return parts.join('\n');
}
