import type { StoreContext } from '../redis/context.ts';
import type { EventStore } from './contract.ts';

/** Reads the index that `append.lua` writes (see `redis/lua/lines.lua`). */
export function createLogPlaces({ run }: StoreContext): Pick<EventStore, 'logPosition'> {
  return {
    async logPosition(id, of) {
      const asked = 'line' in of ? ['line', of.line] : ['entry', of.entry];
      const reply = (await run('find-line', [id, ...asked])) as [string, string, string, string];
      const [entry, before, lines, bytes] = reply;
      return {
        entry: entry === '' ? null : entry,
        before: Number(before),
        lines: Number(lines),
        bytes: Number(bytes),
      };
    },
  };
}
