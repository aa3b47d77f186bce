import { resolve } from 'node:path';
import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import { table } from 'command-kit/table';
import { Command, Option } from 'commander';
import { stateDirOption } from '../connection.ts';
import { group } from '../group.ts';
import { sizeInWords } from '../size.ts';

const PLACE = 'directory, or s3://bucket/prefix?endpoint=https://host&region=name';
const SHORT = 12;
/** Damaged objects that are named. */
const NAMED = 20;

type Main = typeof import('../../main/backup.ts');
type Settings = ReturnType<Main['processSettings']>;
type Backup = Awaited<ReturnType<Main['backUp']>>;

/** Calls the composition root with the settings of this process. Its errors get the exit statuses of the program. */
async function onMain<T>(act: (main: Main, settings: Settings) => Promise<T>): Promise<T> {
  const main = await import('../../main/backup.ts');
  try {
    return await act(main, main.processSettings());
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string };
    if (name === 'SettingsError') throw new CliError(EXIT.usage, message);
    if (name === 'EchelonError') throw new CliError(EXIT.notOk, message, code);
    throw error;
  }
}

function command(name: string, description: string): Command {
  return new Command(name).description(description).argument('<place>', PLACE).option('--json', 'print JSON');
}

const backupOption = () =>
  new Option('--backup <name>', 'name of the backup, or its beginning. Default: the newest');

function create(output: Output): Command {
  return command(
    'create',
    'Back up Redis and the archive while everything runs: a snapshot of Redis at one moment, and every object of the archive that it names. Objects that the place has are not copied again. The settings of the servers say what is backed up.',
  )
    .addOption(stateDirOption())
    .addHelpText(
      'after',
      examples(
        'echelon backup create /mnt/backups',
        "echelon backup create 's3://backups/echelon?region=eu-west-1'",
      ),
    )
    .action(async (place: string, options: { stateDir: string; json?: boolean }) => {
      const stateDir = resolve(options.stateDir);
      const backup = await onMain(({ backUp }, settings) =>
        backUp(placeOf(place), { ...settings, stateDir }),
      );
      output.line(options.json ? json(summaryOf(backup)) : `Backup ${inWords(backup)}.`);
    });
}

function list(output: Output): Command {
  return command('ls', 'List the backups of a place, the newest first.')
    .addHelpText('after', examples('echelon backup ls /mnt/backups'))
    .action(async (place: string, options: { json?: boolean }) => {
      const { backups, unreadable } = await onMain(({ backupsOf }, settings) =>
        backupsOf(placeOf(place), settings),
      );
      for (const { name, reason } of unreadable)
        output.remark(`The manifest ${name.slice(0, SHORT)} is no backup: ${reason}.`);
      if (options.json) return output.line(json(backups.map(summaryOf)));
      const rows = backups
        .map(summaryOf)
        .map(({ name, createdAt, version, snapshotBytes, objects }) => [
          name.slice(0, SHORT),
          new Date(createdAt).toISOString(),
          version,
          sizeInWords(snapshotBytes),
          objects,
        ]);
      output.line(
        rows.length === 0
          ? 'No backups.'
          : table(['NAME', 'TIME', 'VERSION', 'REDIS', 'OBJECTS'], rows, output.columns),
      );
    });
}

function verify(output: Output): Command {
  return command(
    'verify',
    'Compare every byte of a backup with the digests. The exit status is 1 if something is missing or damaged.',
  )
    .addOption(backupOption())
    .addHelpText('after', examples('echelon backup verify /mnt/backups'))
    .action(async (place: string, options: { backup?: string; json?: boolean }) => {
      const { backup, faults } = await onMain(({ checkBackup }, settings) =>
        checkBackup(placeOf(place), options.backup, settings),
      );
      output.line(options.json ? json({ ...summaryOf(backup), faults }) : `Backup ${inWords(backup)}.`);
      if (faults.length === 0) return;
      const named = faults.slice(0, NAMED).join('\n  ');
      throw new CliError(
        EXIT.notOk,
        `${plural(faults.length, 'object')} of this backup are missing or damaged:\n  ${named}\nDelete the damaged files and make another backup.`,
      );
    });
}

function prune(output: Output): Command {
  return command(
    'prune',
    'Delete old backups of a place, and the objects that no other backup names. The newest backups of each installation stay. The command deletes nothing unless one of these is whole, which it verifies byte by byte, nor while a backup is made.',
  )
    .addOption(
      new Option('--keep-last <number>', 'number of backups of each installation that stay')
        .argParser(wholeNumber(1, 100_000))
        .makeOptionMandatory(),
    )
    .addHelpText('after', examples('echelon backup prune /mnt/backups --keep-last 14'))
    .action(async (place: string, options: { keepLast: number; json?: boolean }) => {
      const { kept, deleted, unreadable, objects } = await onMain((main, settings) =>
        main.prune(placeOf(place), options.keepLast, settings),
      );
      for (const { name, reason } of unreadable)
        output.remark(`The manifest ${name.slice(0, SHORT)} is no backup: ${reason}.`);
      if (options.json)
        return output.line(json({ kept: kept.map(summaryOf), deleted: deleted.map(summaryOf), objects }));
      output.line(
        `Deleted ${plural(deleted.length, 'backup')} with ${plural(objects, 'object')}; ${plural(kept.length, 'backup')} remain.`,
      );
    });
}

function restore(output: Output): Command {
  return command(
    'restore',
    'Write a backup to a new archive and a new Redis. The archive is that of the settings, and Redis does not run yet. The command refuses to write over an installation. It may be repeated after an interruption.',
  )
    .addOption(backupOption())
    .option('--redis-dir <directory>', 'data directory of the Redis. Default: `redis` in the state directory')
    .addOption(stateDirOption())
    .addHelpText('after', examples('echelon backup restore /mnt/backups --redis-dir /data'))
    .action(async (place: string, options: RestoreOptions) => {
      const stateDir = resolve(options.stateDir);
      const { backup, redisDir, archive } = await onMain(({ restoreBackup }, settings) =>
        restoreBackup(
          placeOf(place),
          { name: options.backup, redisDir: options.redisDir && resolve(options.redisDir) },
          { ...settings, stateDir },
        ),
      );
      if (options.json) return output.line(json({ ...summaryOf(backup), redisDir, archive }));
      output.line(`Backup ${inWords(backup)}, is restored to ${redisDir} and ${archive}.`);
      output.remark(
        'Next: start Redis, then one dispatcher, then compare `echelon clusters`; see docs/guides/backup.md.',
      );
    });
}

interface RestoreOptions {
  backup?: string;
  redisDir?: string;
  stateDir: string;
  json?: boolean;
}

const placeOf = (place: string): string => (place.startsWith('s3:') ? place : resolve(place));

/** What is printed of a backup: not its list of objects. */
function summaryOf({ pieces: _pieces, objects, ...summary }: Backup) {
  return { ...summary, objects: Object.values(objects).reduce((sum, { length }) => sum + length, 0) };
}

function inWords(backup: Backup): string {
  const { name, createdAt, snapshotBytes, objects } = summaryOf(backup);
  return `${name.slice(0, SHORT)} of ${new Date(createdAt).toISOString()}: ${sizeInWords(snapshotBytes)} of Redis and ${plural(objects, 'object')} of the archive`;
}

const description = 'Back up Redis and the archive; verify, restore and delete backups.';

/** The commands of this module by their names. */
export const commands = {
  backup: group({ name: 'backup', description }, [create, list, verify, prune, restore]),
};
