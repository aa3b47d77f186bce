import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { keepLines } from './kept-log.ts';

/** One network namespace for each host, joined by bridges as the hosts share networks. */
export interface Topology {
  /** The address of a host, on the first network that both share. Undefined if they share no network. */
  address(from: string, to: string): string | undefined;
  /** Starts a program in a host's namespace; ended by `close`. */
  start(host: string, command: string[], options?: { env?: NodeJS.ProcessEnv; cwd?: string }): ChildProcess;
  /** Runs a program in a host's namespace to its end: exit code and output. */
  run(host: string, command: string[], env?: NodeJS.ProcessEnv): { status: number | null; output: string };
  close(): Promise<void>;
}

const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8', stdio: 'pipe' });

/** Whether network namespaces, links and bridges can be made here; else why not. */
export function whyNoNamespaces(): string | undefined {
  const name = `ec${randomBytes(3).toString('hex')}`;
  const made = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' });
  if (made.status !== 0)
    return `no network namespace can be made here: ${made.stderr || made.error?.message}`;
  const bridge = spawnSync('ip', ['-n', name, 'link', 'add', 'br0', 'type', 'bridge'], { encoding: 'utf8' });
  spawnSync('ip', ['netns', 'del', name]);
  return bridge.status === 0 ? undefined : `no bridge can be made here: ${bridge.stderr}`;
}

/**
 * Builds the hosts and networks. All bridges lie in a namespace of their own, so that nothing is routed between them
 * and nothing of this machine is reached.
 */
export function buildTopology(members: Record<string, string[]>): Topology {
  const tag = `ec${randomBytes(3).toString('hex')}`;
  const hosts = [...new Set(Object.values(members).flat())];
  const spaces = [`${tag}-x`, ...hosts.map((host) => `${tag}-${host}`)];
  const children: ChildProcess[] = [];
  const spaceOf = (host: string) => `${tag}-${host}`;
  const addressIn = (network: string, host: string) =>
    `10.${200 + Object.keys(members).indexOf(network)}.0.${hosts.indexOf(host) + 2}`;

  for (const space of spaces) {
    ip('netns', 'add', space);
    ip('-n', space, 'link', 'set', 'lo', 'up');
  }
  Object.entries(members).forEach(([network, names], at) => {
    const bridge = `br${at}`;
    ip('-n', `${tag}-x`, 'link', 'add', bridge, 'type', 'bridge');
    ip('-n', `${tag}-x`, 'link', 'set', bridge, 'up');
    for (const host of names) {
      const outer = `v${at}h${hosts.indexOf(host)}`;
      ip(
        '-n',
        `${tag}-x`,
        'link',
        'add',
        outer,
        'type',
        'veth',
        'peer',
        'name',
        `eth${at}`,
        'netns',
        spaceOf(host),
      );
      ip('-n', `${tag}-x`, 'link', 'set', outer, 'master', bridge, 'up');
      ip('-n', spaceOf(host), 'addr', 'add', `${addressIn(network, host)}/24`, 'dev', `eth${at}`);
      ip('-n', spaceOf(host), 'link', 'set', `eth${at}`, 'up');
    }
  });

  return {
    address(from, to) {
      const shared = Object.entries(members).find(([, names]) => names.includes(from) && names.includes(to));
      return shared && addressIn(shared[0], to);
    },
    start(host, command, options = {}) {
      const child = spawn('ip', ['netns', 'exec', spaceOf(host), ...command], {
        stdio: ['ignore', 'pipe', 'pipe'],
        ...options,
      });
      for (const stream of [child.stdout, child.stderr]) if (stream) keepLines(host, stream);
      children.push(child);
      return child;
    },
    run(host, command, env = process.env) {
      const { status, stdout, stderr } = spawnSync('ip', ['netns', 'exec', spaceOf(host), ...command], {
        encoding: 'utf8',
        env,
        timeout: 60_000,
      });
      return { status, output: `${stdout}${stderr}` };
    },
    async close() {
      for (const child of children.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const exit = once(child, 'exit');
        child.kill('SIGTERM');
        const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
        await exit;
        clearTimeout(late);
      }
      for (const space of spaces) ip('netns', 'del', space);
    },
  };
}
