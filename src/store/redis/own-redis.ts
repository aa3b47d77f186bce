import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';

/*
 * Invariant: once the installation is known, no command is sent on a connection that leads to another Redis. The scripts of the
 * store check that themselves, but neither BullMQ nor plain commands can. So each connection asks for the installation before it
 * is handed to ioredis, which then behaves as if the server had closed it.
 */

/** The connections of a process to the Redis of its installation. */
export interface OwnRedis {
  /** Options of ioredis for such a connection. Its duplicates have them too. */
  options: { Connector: new (options: unknown) => AbstractConnector };
  /** From now on, new connections are refused that lead to another installation or to an empty Redis. */
  bind(installation: string): void;
  /** Whether the last connection was refused. */
  isForeign(): boolean;
  /** Calls `listener` when a connection is refused. */
  onForeign(listener: () => void): void;
  /** Closes every connection. ioredis makes them anew. */
  renew(): void;
}

/** See {@link OwnRedis}. `key`: the key of the installation. */
export function createOwnRedis(key: string): OwnRedis {
  let installation: string | null = null;
  let foreign = false;
  const listeners: (() => void)[] = [];
  const streams = new Set<Socket>();

  async function refusal(stream: Socket, options: RedisOptions): Promise<Error | null> {
    if (installation === null) return null;
    const reply = await ask(stream, options, key);
    if (reply === undefined) return null; // closed
    if ('error' in reply) return reply.error.startsWith('LOADING') ? new Error(reply.error) : null;
    foreign = reply.value !== installation;
    if (!foreign) return null;
    for (const listener of listeners) listener();
    return new Error('this Redis is empty or belongs to another installation');
  }

  return {
    options: { Connector: connectorWith(streams, refusal) },
    bind(own) {
      installation = own;
    },
    isForeign: () => foreign,
    onForeign: (listener) => void listeners.push(listener),
    renew() {
      for (const stream of streams) stream.destroy();
    },
  };
}

/**
 * The connector of ioredis. `refusal`: why a connection must not be used; null: it leads to the installation, or the server
 * refuses all commands anyway. `streams`: gets the present connections.
 */
function connectorWith(
  streams: Set<Socket>,
  refusal: (stream: Socket, options: RedisOptions) => Promise<Error | null>,
) {
  return class Connector extends AbstractConnector {
    readonly #options: RedisOptions;

    constructor(options: unknown) {
      const given = options as RedisOptions;
      super(given.disconnectTimeout ?? 2_000);
      this.#options = given;
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      delete this.firstError;
      const stream = open(this.#options);
      this.stream = stream;
      stream.once('error', (error) => {
        this.firstError = error;
      });
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      const why = await refusal(stream, this.#options);
      if (why !== null) {
        this.firstError = why;
        // ioredis tries again after a closed connection, but not after an error of its connector.
        stream.destroy();
      }
      return stream;
    }
  };
}

function open({ path, host, port, family, tls }: RedisOptions): Socket {
  const place = path
    ? { path }
    : { port: port ?? 6379, ...(host != null && { host }), ...(family != null && { family }) };
  return tls ? connectTls({ ...place, ...tls }) : createConnection(place);
}

type Reply = { value: string | null } | { error: string };

/** The value of a key by the raw protocol; undefined: the connection was closed before. */
function ask(stream: Socket, options: RedisOptions, key: string): Promise<Reply | undefined> {
  const { username, password, db, connectTimeout = 10_000 } = options;
  const commands = [
    ...(password ? [['AUTH', ...(username ? [username] : []), password]] : []),
    ...(db ? [['SELECT', String(db)]] : []),
    ['GET', key],
  ];
  const { promise, resolve } = Promise.withResolvers<Reply | undefined>();
  const late = setTimeout(() => stream.destroy(new Error('connect ETIMEDOUT')), connectTimeout);
  let text = '';
  const read = (bytes: Buffer) => {
    text += bytes.toString('latin1');
    const reply = lastReply(text, commands.length);
    if (reply === undefined) return;
    stream.off('data', read).pause(); // ioredis resumes it
    end(reply);
  };
  const end = (reply?: Reply) => {
    clearTimeout(late);
    resolve(reply);
  };
  stream.on('data', read);
  stream.once('close', () => end());
  stream.write(commands.map(encoded).join(''));
  return promise;
}

function encoded(command: readonly string[]): string {
  return `*${command.length}\r\n${command.map((one) => `$${Buffer.byteLength(one)}\r\n${one}\r\n`).join('')}`;
}

/** The last of `count` replies, of which the others are one line each; undefined: it is not complete. */
function lastReply(text: string, count: number): Reply | undefined {
  const lines = text.split('\r\n');
  const [head, body] = lines.slice(count - 1);
  // What follows the last line break is not a line yet.
  if (head === undefined || lines.length <= count) return undefined;
  if (head.startsWith('-')) return { error: head.slice(1) };
  if (head === '$-1') return { value: null };
  return body === undefined || lines.length <= count + 1 ? undefined : { value: body };
}
