import { columnsOf, shortened } from './width.ts';

/** Lines at the end of a terminal that are overwritten. */
export interface LiveBlock {
  /** Replaces the lines that were shown before; each line is cut to the terminal. */
  show(lines: readonly string[]): void;
}

/** A block at the current end of `stream`, which is a terminal. */
export function createLiveBlock(stream: NodeJS.WriteStream): LiveBlock {
  // Every command loads this file, and few need these modules.
  const { clearScreenDown, moveCursor } = process.getBuiltinModule('node:readline');
  const { stripVTControlCharacters } = process.getBuiltinModule('node:util');
  let height = 0;
  return {
    show(lines) {
      const width = Math.max(3, stream.columns - 1);
      // A line that is too long would wrap, and the block would be higher than counted.
      const fitting = lines.map((line) =>
        columnsOf(line) > width ? shortened(stripVTControlCharacters(line), width) : line,
      );
      if (height > 0) moveCursor(stream, -stream.columns, -height);
      clearScreenDown(stream);
      stream.write(fitting.map((line) => `${line}\n`).join(''));
      height = fitting.length;
    },
  };
}
