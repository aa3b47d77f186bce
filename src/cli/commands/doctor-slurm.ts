import { statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { answer, type Check } from '../check.ts';

/** Magic numbers of file systems of the network (statfs(2)), on which the files of Redis may be torn or locked twice. */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  428016422: 'BeeGFS',
  12805120: 'Ceph',
  4283649346: 'SMB',
  4266872130: 'SMB',
  1397113167: 'AFS',
};

/** What `echelon clusters add-slurm` needs of the login node. `partition`: of the jobs; default: that of Slurm. */
export async function slurmChecks(partition: string | undefined): Promise<Check[]> {
  return Promise.all([commands(), munge(), controller(), submission(partition), stateFolder(homedir())]);
}

async function commands(): Promise<Check> {
  const { ok, said } = await answer('sinfo', ['--version']);
  const remedy = 'Run this on a login node of Slurm, or name one with `clusters add-slurm --ssh HOST`.';
  return { name: 'Slurm', ok, found: said, remedy };
}

async function munge(): Promise<Check> {
  const { ok, said } = await answer('sh', ['-c', 'munge -n | unmunge']);
  return {
    name: 'munge',
    ok,
    found: ok ? 'a credential of this user is accepted' : said,
    remedy: 'Ask the operators of the cluster: munged must run, with the same key and time on all nodes.',
  };
}

async function controller(): Promise<Check> {
  const { ok, said } = await answer('scontrol', ['ping']);
  return {
    name: 'slurmctld',
    ok: ok && /\bUP\b/.test(said),
    found: said,
    remedy: 'Wait for the controller. Running experiments continue meanwhile, and nothing is cancelled.',
  };
}

async function submission(partition: string | undefined): Promise<Check> {
  const where = partition === undefined ? [] : [`--partition=${partition}`];
  const { ok, said } = await answer('sbatch', ['--test-only', '--time=2', ...where, '--wrap=:']);
  return {
    name: 'sbatch',
    ok,
    found: said,
    remedy: 'Name a partition, account or quality of service that this user may use (`sacctmgr show assoc`).',
  };
}

/** Exported for its test. `place`: the folder in which `echelon up` keeps its state. */
export async function stateFolder(
  place: string,
  typeOf: (path: string) => Promise<number> = async (path) => (await statfs(path)).type,
): Promise<Check> {
  const network = NETWORK[await typeOf(place)];
  return {
    name: 'state',
    ok: network === undefined,
    found: network === undefined ? `${place} is a local disk` : `${place} is on ${network}`,
    remedy:
      'Name a local folder for the files of Redis: `echelon up --state-dir DIR`. Copy it with `echelon backup`.',
  };
}
