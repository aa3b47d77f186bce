// A network of its own for a command. Plain JavaScript: the door of the npm scripts needs it before Node 24 is there.
import { spawnSync } from 'node:child_process';

// Loopback is down in a new network namespace; Python can raise it without iproute2. The program gets SIGTERM should
// the process be killed that started it.
const RAISE_LOOPBACK = `
import ctypes, fcntl, os, socket, struct, sys
ctypes.CDLL(None).prctl(1, 15, 0, 0, 0)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flags = struct.unpack('16sh', fcntl.ioctl(s, 0x8913, struct.pack('16sh', b'lo', 0))[:18])[1]
fcntl.ioctl(s, 0x8914, struct.pack('16sh', b'lo', flags | 1))
os.execvp(sys.argv[1], sys.argv[1:])
`;

/**
 * What to put before a command so that it runs in a network namespace with nothing but loopback (`python`: an
 * interpreter), or undefined if none can be made.
 */
export function isolation(python) {
  const own = process.getuid?.() === 0 ? ['--net'] : ['--user', '--map-root-user', '--net'];
  const wrap = ['unshare', ...own, '--', python, '-c', RAISE_LOOPBACK];
  return spawnSync(wrap[0], [...wrap.slice(1), 'true'], { stdio: 'ignore' }).status === 0 ? wrap : undefined;
}
