import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can go silent without closing anything, as a pulled cable does. */
export interface TcpProxy {
  address: string;
  /** Bytes that came from clients. */
  received(): number;
  /** Clients that are connected. */
  connections(): number;
  /** Clients that have ever connected. */
  accepted(): number;
  /**
   * Makes present connections half open: neither side receives another byte, nor that the other side has closed. New
   * connections work. `which`: decides for each connection; default: all.
   */
  freeze(which?: () => boolean): void;
  /** From now on bytes of both directions arrive after this time; 0: at once. */
  delay(ms: number): void;
  /** Bytes of the next `ms` arrive together at their end. */
  stall(ms: number): void;
  /** Cuts every connection with a reset; new ones are accepted. */
  reset(): void;
  /** Cuts every connection, and new ones at once, until `heal`. */
  cut(): void;
  heal(): void;
  /** Cuts every connection; new ones lead to this address. */
  lead(address: string): void;
  stop(): Promise<void>;
}

/** A proxy on a free port of 127.0.0.1 to `target` (host:port). The caller must `stop()` it. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const frozen = new Set<Socket>();
  let accepted = 0;
  let received = 0;
  let delayMs = 0;
  let stalledUntil = 0;

  function hold(socket: Socket): Socket {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }

  function passOn({ from, to, client }: { from: Socket; to: Socket; client: Socket }): void {
    const late: { due: number; bytes: Buffer }[] = [];
    function send(): void {
      for (let first = late[0]; first && first.due <= performance.now(); first = late[0]) {
        late.shift();
        if (!frozen.has(client)) to.write(first.bytes);
      }
      if (late[0]) setTimeout(send, late[0].due - performance.now());
    }
    from.on('data', (bytes) => {
      if (from === client) received += bytes.length;
      late.push({ due: Math.max(performance.now() + delayMs, stalledUntil), bytes });
      if (late.length === 1) send();
    });
    from.once('close', () => {
      if (!frozen.has(client)) to.destroy();
    });
  }

  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return void client.resetAndDestroy();
    accepted += 1;
    clients.add(hold(client));
    client.once('close', () => clients.delete(client));
    const upstream = hold(connect(Number(port), host));
    passOn({ from: client, to: upstream, client });
    passOn({ from: upstream, to: client, client });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  const end = () => {
    // Node.js never closes a socket that is reset while its end is being sent.
    for (const socket of sockets) socket.writableEnded ? socket.destroy() : socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${bound.port}`,
    received: () => received,
    connections: () => clients.size,
    accepted: () => accepted,
    freeze(which = () => true) {
      for (const client of clients) if (which()) frozen.add(client);
    },
    delay(ms) {
      delayMs = ms;
    },
    stall(ms) {
      stalledUntil = performance.now() + ms;
    },
    reset: end,
    cut() {
      isCut = true;
      end();
    },
    heal() {
      isCut = false;
    },
    lead(address) {
      [host = '', port = ''] = address.split(':');
      end();
    },
    async stop() {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
