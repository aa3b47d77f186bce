import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can cut its connections, at once or in the middle of a transfer. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number;
  /** How many connections were made through it. */
  readonly connections: () => number;
  /** Cuts every connection. */
  cut(): void;
  /** Cuts every connection once this many more bytes have gone up to the server. */
  cutAfterUpload(bytes: number): void;
  /** Cuts every connection once this many more bytes have come down from the server. */
  cutAfterDownload(bytes: number): void;
}

/** Starts one on a free port, towards `target` on 127.0.0.1. */
export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const budget = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
  let connections = 0;

  const cut = (): void => {
    budget.up = Number.POSITIVE_INFINITY;
    budget.down = Number.POSITIVE_INFINITY;
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  };
  const pass = (from: Socket, to: Socket, direction: 'up' | 'down'): void => {
    from.on('data', (chunk) => {
      budget[direction] -= chunk.length;
      if (budget[direction] <= 0) return cut();
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => from.resume());
    from.on('close', () => {
      to.destroy();
      sockets.delete(from);
    });
    from.on('error', () => to.destroy());
  };
  const server = createServer((near) => {
    connections++;
    const far = connect(target, '127.0.0.1');
    sockets.add(near).add(far);
    pass(near, far, 'up');
    pass(far, near, 'down');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    connections: () => connections,
    cut,
    cutAfterUpload: (bytes) => {
      budget.up = bytes;
    },
    cutAfterDownload: (bytes) => {
      budget.down = bytes;
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
