import type { StoreContext } from '../redis/context.ts';
import type { LogPlace } from './events.ts';

/** Reads the index that `append.lua` writes (see `redis/lua/lines.lua`). */
export function createLogPlaces({ run }: StoreContext) {
  return {
    /** The place of a line (from 1) or of an event. The cost does not depend on the length of the log. */
    async logPosition(id: string, of: { line: number } | { entry: string }): Promise<LogPlace> {
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
