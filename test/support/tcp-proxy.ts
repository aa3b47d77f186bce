import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can go silent without closing anything, as a pulled cable does. */
export interface TcpProxy {
  address: string;
  /** Bytes that came from clients. */
  received(): number;
  /** Clients that are connected. */
  connections(): number;
  /** From now on nothing is passed on by the connections that stand, and none is closed; new ones work. */
  freeze(): void;
  /** Cuts every connection with a reset; new ones are accepted. */
  reset(): void;
  stop(): Promise<void>;
}

/**
 * A proxy on a free port of 127.0.0.1 to `target` (host:port), which forwards replies after `delayMs`. The
 * caller must `stop()` it.
 */
export async function startTcpProxy(
  target: string,
  { delayMs = 0 }: { delayMs?: number } = {},
): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const frozen = new Set<Socket>();
  let received = 0;

  function hold(socket: Socket): Socket {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    return socket;
  }
  const server = createServer((client) => {
    hold(client);
    clients.add(client);
    const upstream = hold(connect(Number(port), host));
    client.on('data', (bytes) => {
      received += bytes.length;
      if (!frozen.has(client)) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (frozen.has(client)) return;
      // Timers of one length fire in their order.
      if (delayMs > 0) setTimeout(() => client.write(bytes), delayMs);
      else client.write(bytes);
    });
    client.once('close', () => {
      clients.delete(client);
      upstream.destroy();
    });
    upstream.once('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  const end = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${bound.port}`,
    received: () => received,
    connections: () => clients.size,
    freeze() {
      for (const socket of sockets) frozen.add(socket);
    },
    reset: end,
    async stop() {
      end();
      server.close();
      await once(server, 'close');
    },
  };
}
