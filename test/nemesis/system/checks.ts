import { existsSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEntryId } from '../../../src/core/ids.ts';
import type { History } from '../history.ts';
import { SHARED_MEMORY } from './namespaces.ts';
import { processTable } from './parts.ts';
import type { SystemWorld } from './world.ts';

/** What the processes of the system show, beside what every world shows. */
const CHECKS: Readonly<Record<string, (history: History, world: SystemWorld) => string[]>> = {
  'only the loss of its own driver or supervisor repeats a confirmed attempt': (
    { experiments },
    { killed },
  ) =>
    [...experiments.values()].flatMap(({ record, entries }) => {
      const confirmed = entries.filter(({ event }) => event.type === 'state' && event.to === 'running');
      const repeated = confirmed
        .map(({ id }) => parseEntryId(id)!.attempt)
        .filter((attempt) => attempt < record.attempt);
      return repeated.map((attempt) => `${record.id}/${attempt}`).filter((name) => !killed.has(name));
    }),
  'the driver of a succeeded experiment has ended by itself': ({ experiments }, { witness }) => {
    const ended = new Set(
      witness
        .drivers()
        .flatMap(({ what, experiment, attempt }) => (what === 'end' ? `${experiment}/${attempt}` : [])),
    );
    return [...experiments.values()].flatMap(({ record: { id, state, attempt } }) =>
      state === 'succeeded' && !ended.has(`${id}/${attempt}`) ? [`${id}/${attempt}`] : [],
    );
  },
  'no supervisor fails': (_, { witness }) =>
    witness.attempts().filter((path) => statSync(join(path, 'supervisor.log')).size > 0),
  'no process and no spool is left': (_, { witness }) =>
    [
      ...[...processTable()].filter(([, command]) =>
        / -m echelon_rayworker\.(supervisor|engines)/.test(command),
      ),
      ...witness.attempts().filter((path) => existsSync(join(path, 'spool'))),
    ].map(String),
};

/** The violations that the processes of the system show, in words. */
export function violationsOf(history: History, world: SystemWorld): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) =>
    check(history, world).map((violation) => `${name}: ${violation}`),
  );
}

/** What is left on the machine when everything has been stopped; the namespaces hold only this campaign. */
export function leftOnMachine(): string[] {
  const own = new Set([process.pid, process.ppid]);
  const processes = [...processTable()].filter(([pid]) => !own.has(pid)).map(String);
  const files = [SHARED_MEMORY, tmpdir()]
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)))
    .filter((path) => path !== tmpdir());
  return [...processes, ...files].map((left) => `nothing is left on the machine: ${left}`);
}
