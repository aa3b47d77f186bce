// Makes a server in a network namespace reachable from the machine: a Unix socket crosses the boundary of the namespace.
// Plain JavaScript: the door of the npm scripts needs it before Node 24 is there.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Connects every connection of `server` with a new one to `target`. */
function forward(server, target) {
  server.on('connection', (from) => {
    const to = connect(target);
    from.pipe(to).pipe(from);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
    from.on('close', () => to.destroy());
    to.on('close', () => from.destroy());
  });
  return server.unref();
}

/**
 * Listens on a port of loopback (0: any free one) and forwards to a Unix socket. The result's `port` is also the port at which the program in the
 * namespace is to listen, `socket` the path for {@link answerRelay}.
 */
export async function openRelay(wanted) {
  const directory = mkdtempSync(join(tmpdir(), 'echelon-relay-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const socket = join(directory, 'socket');
  const server = forward(createServer(), socket);
  await new Promise((resolve, reject) => server.on('error', reject).listen(wanted, '127.0.0.1', resolve));
  return { port: server.address().port, socket };
}

/** Inside of the namespace: forwards from the Unix socket to the port of loopback. */
export function answerRelay({ port, socket }) {
  forward(createServer(), { host: '127.0.0.1', port }).listen(socket);
}

// Loaded with --import in the namespace.
const { ECHELON_RELAY } = process.env;
if (ECHELON_RELAY) {
  delete process.env.ECHELON_RELAY;
  answerRelay(JSON.parse(ECHELON_RELAY));
}
