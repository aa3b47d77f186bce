import { execFile } from 'node:child_process';
import type { SlurmPlace } from '../../../store/clusters/types.ts';
import { PARTITION_FIELDS, type PartitionNodes, toPartitionNodes } from './limits.ts';

/*
 * Slurm's own commands, on this machine or by OpenSSH on its login node. Nothing of a spec is ever an argument, and every
 * argument of a remote command is quoted.
 */

/** A command of Slurm that could not be run, or was refused. */
export class SlurmError extends Error {
  /** `silent`: nothing is known about what Slurm did. `refused`: Slurm said no. */
  readonly kind: 'silent' | 'refused';

  constructor(kind: SlurmError['kind'], message: string) {
    super(message);
    this.name = 'SlurmError';
    this.kind = kind;
  }
}

/** A job as Slurm lists it. Instants are in ms since 1970. */
export interface ListedJob {
  job: string;
  name: string;
  comment: string;
  state: string;
  reason: string | null;
  startsAt: number | null;
  endsAt: number | null;
}

/** What the rounds need of Slurm. */
export interface Slurm {
  /** All jobs of this user whose name begins with `echelon-`: those that wait or run, and those that have ended shortly before. */
  list(place: SlurmPlace): Promise<ListedJob[]>;
  /** Submits a job, and returns its id. Throws {@link SlurmError}. */
  submit(place: SlurmPlace, job: Submission): Promise<string>;
  /** The nodes of the partition, by their sizes. */
  nodes(place: SlurmPlace): Promise<PartitionNodes[]>;
  cancel(place: SlurmPlace, job: string): Promise<void>;
  /** Writes a file of mode 0600 below a directory of mode 0700. */
  write(place: SlurmPlace, path: string, text: string): Promise<void>;
  /** The last 2 kB of a file; null: there is none. */
  read(place: SlurmPlace, path: string): Promise<string | null>;
}

/** A job to submit. */
export interface Submission {
  name: string;
  comment: string;
  options: readonly string[];
  /** Path of the script on the shared file system, and its arguments. */
  script: string;
  args: readonly string[];
}

/** Slurm's controller may be busy for a while; its commands give up by themselves after `MessageTimeout`. */
const WITHIN_MS = 60_000;
const MAX_BYTES = 8 * 1024 * 1024;
const FIELDS = '%i|%T|%S|%e|%k|%j|%r';
/** Login shells print banners: the answer stands between these two. */
const BEGIN = '--- echelon: begin ---';
const END = '--- echelon: end ---';

/** See {@link Slurm}. */
export function createSlurm(): Slurm {
  return {
    async list(place) {
      const text = await run(place, ['squeue', '--me', '--noheader', '--states=all', `--format=${FIELDS}`]);
      return text.split('\n').flatMap(toListedJob);
    },
    async submit(place, { name, comment, options, script, args }) {
      const command = ['sbatch', '--parsable', `--job-name=${name}`, `--comment=${comment}`, ...options];
      const answer = await run(place, [...command, script, ...args]);
      const job = /^(\d+)(?:;.*)?$/m.exec(answer.trim())?.[1];
      if (job === undefined)
        throw new SlurmError('silent', `sbatch answered: ${answer.trim().slice(0, 300)}`);
      return job;
    },
    async nodes(place) {
      const options = ['--noheader', '--exact', `--partition=${place.partition}`];
      const text = await run(place, ['sinfo', ...options, `--format=${PARTITION_FIELDS}`]);
      return text.split('\n').flatMap(toPartitionNodes);
    },
    async cancel(place, job) {
      await run(place, ['scancel', job]);
    },
    async write(place, path, text) {
      const script = 'umask 077; mkdir -p "$(dirname "$1")"; cat >"$1.new" && mv "$1.new" "$1"';
      await run(place, ['sh', '-c', script, 'sh', path], text);
    },
    async read(place, path) {
      const text = await run(place, ['sh', '-c', 'tail -c 2000 "$1" 2>/dev/null || true', 'sh', path]);
      return text === '' ? null : text;
    },
  };
}

function toListedJob(line: string): ListedJob[] {
  const [job, state, start, end, comment, name, ...reason] = line.split('|');
  if (job === undefined || name === undefined || !name.startsWith('echelon-')) return [];
  const why = reason.join('|');
  return [
    {
      job,
      name,
      comment: comment!,
      state: state!,
      reason: why === 'None' || why === '' ? null : why,
      startsAt: instant(start!),
      endsAt: instant(end!),
    },
  ];
}

/** From seconds since 1970; Slurm says N/A or NONE if there is none. */
function instant(seconds: string): number | null {
  return /^\d+$/.test(seconds) ? Number(seconds) * 1_000 : null;
}

/** Runs a command and returns its output. Throws {@link SlurmError}. */
async function run({ ssh }: SlurmPlace, command: readonly string[], input = ''): Promise<string> {
  // A remote shell joins its arguments, so each is quoted once more.
  const settings = 'export SLURM_TIME_FORMAT=%s LC_ALL=C';
  const wrapped = [
    'sh',
    '-c',
    `${settings}; echo '${BEGIN}'; "$@"; code=$?; echo '${END}'; exit $code`,
    'sh',
    ...command,
  ];
  const [program, ...args] =
    ssh === null ? wrapped : ['ssh', ...SSH_OPTIONS, '--', ssh, wrapped.map(quoted).join(' ')];
  return await new Promise((resolve, reject) => {
    const child = execFile(
      program!,
      args,
      { timeout: WITHIN_MS, maxBuffer: MAX_BYTES },
      (error, output, errors) => {
        const answer = between(output);
        if (error === null && answer !== null) return resolve(answer);
        const said = errors.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
        // With the end mark the command itself ran, and refused; an unreachable controller is said in its own words.
        const ran = answer !== null && error?.code !== NO_PROGRAM && !UNREACHABLE.test(errors);
        const words = said === '' ? `ended with ${error?.code ?? error?.signal ?? 'no answer'}` : said;
        reject(new SlurmError(ran ? 'refused' : 'silent', `${command[0]}: ${words}`));
      },
    );
    // A program that ends early does not read its input.
    child.stdin!.on('error', () => {});
    child.stdin!.end(input);
  });
}

const SSH_OPTIONS = [
  '-o',
  'BatchMode=yes',
  '-o',
  'StrictHostKeyChecking=yes',
  '-o',
  'ConnectTimeout=15',
  '-o',
  'ControlMaster=auto',
  '-o',
  'ControlPath=~/.ssh/echelon-%C',
  '-o',
  'ControlPersist=120',
] as const;

/** The exit status of a shell that does not find a program. */
const NO_PROGRAM = 127;
const UNREACHABLE = /unable to contact slurm controller|socket timed out|connection refused/i;

function between(output: string): string | null {
  const from = output.indexOf(`${BEGIN}\n`);
  const to = output.lastIndexOf(`${END}\n`);
  return from === -1 || to === -1 ? null : output.slice(from + BEGIN.length + 1, to);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
