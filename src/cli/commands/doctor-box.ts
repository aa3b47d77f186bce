import { execFile } from 'node:child_process';
import { access, constants, stat, statfs } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answer, type Check } from '../check.ts';
import { busyCards, GPU_QUERIES, gpusOf } from '../local/box/gpus.ts';
import { freeTasks, openFiles, type ReadText, readText } from '../local/box/limits.ts';
import { ownerOf, type Program, programs, userName } from '../local/box/programs.ts';
import { rayVersion, requireClosed } from '../local/ray-release.ts';

const run = promisify(execFile);
const GiB = 2 ** 30;

/** Of HGPO on ALFWorld with 128 training and 128 validation environments on 4 GPUs, as its users measured. */
const HGPO = { tasks: 14_000, memoryBytes: 130 * GiB, sharedBytes: 10 * GiB, diskBytes: 80 * GiB };
/** What Ray advises. */
const OPEN_FILES = 65_535;

/** What a machine with GPUs needs for a training with verl-agent. `environment`: of `echelon up`. */
export async function boxChecks(python: string, environment: NodeJS.ProcessEnv): Promise<Check[]> {
  const all = programs();
  return (
    await Promise.all([
      ...['torch', 'vllm', 'verl', 'flash_attn'].map((module) => imports(python, module)),
      closedRay(python, environment),
      tokenFile(homedir()),
      gpus(),
      otherRays(all),
      tasks(readText, all),
      files(readText),
      memory(process.availableMemory()),
      space('/dev/shm', '/dev/shm', HGPO.sharedBytes, 'Start the container with a larger --shm-size.'),
      space(
        'home',
        homedir(),
        HGPO.diskBytes,
        'Put the checkpoints on a larger disk: `trainer.default_local_dir`.',
      ),
      space('temporary', tmpdir(), 20 * GiB, 'Set TMPDIR to a larger disk: Ray spills objects there.'),
      ...FOLDERS.map((folder) => dataFolder(folder, environment)),
    ])
  ).flat();
}

/** Imported in a process: a listed package need not load. */
async function imports(python: string, module: string): Promise<Check> {
  const code = `import ${module}; print(getattr(${module}, "__version__", "without a version"))`;
  const { ok, said } = await answer(python, ['-c', code], 60_000);
  return {
    name: module,
    ok,
    // Other back ends of attention exist.
    ...(module === 'flash_attn' && { warning: true }),
    found: said,
    remedy: `Name the Python of your trainer with --python, or install ${module} into ${python}.`,
  };
}

async function closedRay(python: string, environment: NodeJS.ProcessEnv): Promise<Check> {
  try {
    const version = await rayVersion(python, environment);
    requireClosed(version, environment);
    return { name: 'Ray, closed', ok: true, found: version, remedy: '' };
  } catch (error) {
    const [found, ...remedy] = (error as Error).message.split('\n');
    return { name: 'Ray, closed', ok: false, found: found!, remedy: remedy.join('\n         ') };
  }
}

/** A token that Ray wrote into a home makes every later head of that home ask for it. */
export async function tokenFile(home: string): Promise<Check> {
  const file = join(home, '.ray', 'auth_token');
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => undefined,
  );
  const open = mode !== undefined && (mode & 0o077) !== 0;
  return {
    name: 'token file',
    ok: !open,
    warning: true,
    found: mode === undefined ? 'none in the home' : `${file}, mode ${mode.toString(8)}`,
    remedy: `Other users may read it: chmod 600 ${file}`,
  };
}

async function gpus(): Promise<Check> {
  const ask = async (args: readonly string[]) =>
    (await run('nvidia-smi', [...args], { timeout: 30_000 })).stdout;
  try {
    const cards = gpusOf(await ask(GPU_QUERIES[0]), await ask(GPU_QUERIES[1]));
    const busy = busyCards(cards, ownerOf);
    return {
      name: 'GPUs',
      ok: busy.length === 0,
      warning: true,
      found: busy.length > 0 ? busy.join('; ') : `${cards.length} (${cards[0]?.name ?? 'none'}), all free`,
      remedy: 'Ray does not see other programs: keep these cards out with CUDA_VISIBLE_DEVICES, or wait.',
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const found = code === 'ENOENT' ? 'no nvidia-smi' : message.split('\n')[0]!;
    return {
      name: 'GPUs',
      ok: false,
      warning: true,
      found,
      remedy: 'Install the driver of NVIDIA; without it trainings use CPUs.',
    };
  }
}

/** Other Rays on this machine: `ray stop` ends them all. */
export function otherRays(all: readonly Program[]): Check {
  const found = all
    .filter(({ name }) => name === 'raylet')
    .map(({ pid, uid }) => `process ${pid} of ${userName(uid)}`);
  return {
    name: 'other Rays',
    ok: found.length === 0,
    warning: true,
    found: found.join(', ') || 'none',
    remedy: 'They share the GPUs and the limit of tasks, and `ray stop` ends this Ray together with them.',
  };
}

/** Threads count as tasks: a machine runs out of them before anything else. */
export function tasks(read: ReadText, all: readonly Program[]): Check {
  const ours = all.filter(({ uid }) => uid === process.getuid?.());
  const { free, by } = freeTasks(
    read,
    ours.reduce((sum, { threads }) => sum + threads, 0),
  );
  return {
    name: 'tasks',
    ok: free >= HGPO.tasks,
    warning: true,
    found: Number.isFinite(free) ? `${free} free (${by})` : by,
    remedy: `HGPO with 256 environments takes ${HGPO.tasks}. Raise the limit (containers: --pids-limit 32768), or train with fewer environments.`,
  };
}

/** The limit of open files, which a process inherits. */
export function files(read: ReadText): Check {
  const limit = openFiles(read);
  return {
    name: 'open files',
    ok: limit >= OPEN_FILES,
    warning: true,
    found: Number.isFinite(limit) ? String(limit) : 'no limit',
    remedy: `Ray advises ${OPEN_FILES}: \`ulimit -n ${OPEN_FILES}\` before \`echelon up\`.`,
  };
}

function memory(free: number): Check {
  return {
    name: 'memory',
    ok: free >= HGPO.memoryBytes,
    warning: true,
    found: `${gib(free)} free`,
    remedy: `HGPO with 256 environments on 4 GPUs takes ${gib(HGPO.memoryBytes)}. Train with fewer environments, or end other programs.`,
  };
}

async function space(name: string, folder: string, need: number, remedy: string): Promise<Check> {
  try {
    await access(folder, constants.W_OK);
  } catch {
    return {
      name,
      ok: false,
      found: `${folder} is not writable`,
      remedy: `Make ${folder} writable for this user.`,
    };
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  return { name, ok: free >= need, warning: true, found: `${gib(free)} free in ${folder}`, remedy };
}

/** Folders that a training with verl-agent reads, by the variables that name them. */
const FOLDERS = [
  {
    name: 'verl-agent',
    variable: 'VERL_AGENT_HOME',
    holds: 'recipe/hgpo/main_hgpo.py',
    what: 'the checkout of verl-agent',
  },
  { name: 'ALFWorld', variable: 'ALFWORLD_DATA', holds: 'json_2.1.1', what: 'the games of ALFWorld' },
] as const;

async function dataFolder(
  { name, variable, holds, what }: (typeof FOLDERS)[number],
  environment: NodeJS.ProcessEnv,
): Promise<Check> {
  const folder = environment[variable];
  const place = folder === undefined ? undefined : join(folder, holds);
  const ok =
    place !== undefined &&
    (await access(place).then(
      () => true,
      () => false,
    ));
  const found = place === undefined ? `${variable} is not set` : `${place}${ok ? '' : ' does not exist'}`;
  const remedy = `Set ${variable} to ${what} before \`echelon up\`; a program of your own does not need it.`;
  return { name, ok, warning: true, found, remedy };
}

const gib = (bytes: number): string => `${(bytes / GiB).toFixed(1)} GiB`;
