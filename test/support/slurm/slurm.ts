import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const SCRIPT = new URL('slurm-here.sh', import.meta.url).pathname;
const ROOT = resolve(import.meta.dirname, '../../..');

/** What a command printed, and its exit status. */
export interface Printed {
  code: number;
  output: string;
}

/** A Slurm of one login node and some compute nodes on this machine. */
export interface SlurmHere {
  /** The shared file system. */
  folder: string;
  /** Runs a command on the login node. */
  login(...command: string[]): Promise<Printed>;
  /** Runs `echelon` of this checkout on the login node. */
  echelon(...args: string[]): Promise<Printed>;
  /** Starts a program on the login node, which `down` ends. */
  start(...command: string[]): void;
  down(): void;
}

/** Why no Slurm can run here; undefined: it can. */
export function whyNoSlurm(): string | undefined {
  for (const program of ['slurmctld', 'slurmd', 'munged', 'sbatch'])
    if (spawnSync('which', [program], { env: environment('') }).status !== 0)
      return `needs Slurm: apt-get install --no-install-recommends slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge`;
  return process.getuid?.() === 0 ? undefined : 'needs root, for namespaces and device nodes';
}

const environment = (folder: string) => ({
  HOME: join(folder, 'home'),
  PATH: [join(ROOT, 'bin'), join(ROOT, 'node_modules/.bin'), '/usr/sbin:/usr/bin:/sbin:/bin'].join(':'),
});

/** Starts a Slurm of `nodes` nodes with `gpus` logical GPUs each. */
export function slurmHere({ nodes, gpus }: { nodes: number; gpus: number }): SlurmHere {
  const folder = mkdtempSync(join(tmpdir(), 'slurm-'));
  const run = (...args: string[]) => spawnSync('bash', [SCRIPT, ...args], { encoding: 'utf8' });
  const up = run('up', folder, String(nodes), String(gpus));
  if (up.status !== 0) throw new Error(up.stderr);
  const env = Object.entries(environment(folder)).map(([name, value]) => `${name}=${value}`);
  const on = (command: string[]) => [SCRIPT, 'on', folder, 'login', 'env', ...env, ...command];
  const login = (...command: string[]) =>
    new Promise<Printed>((done) => {
      execFile('bash', on(command), { timeout: 120_000 }, (error, stdout, stderr) =>
        done({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });
  return {
    folder,
    login,
    echelon: (...args) => login('echelon', ...args),
    start: (...command) => void spawn('bash', on(command), { stdio: 'ignore' }),
    down() {
      run('down', folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
