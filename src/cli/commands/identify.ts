import { Command } from 'commander';
import { wholeNumber } from '../arguments.ts';
import type { TextStreams } from '../batch-files.ts';
import { identifyFile, showKnownForm } from '../identify-file.ts';

/** `echelon identify`: names the arithmetic behind reported advantages. */
export function identifyCommand(io: (options: { json?: boolean | undefined }) => TextStreams): Command {
  return new Command('identify')
    .description('name the estimators that explain the advantages of a file')
    .argument('[file]', 'a batch file, a dump or a table; a table on standard input if omitted')
    .option('--json', 'print JSON, for scripts')
    .option('--group-size <n>', 'rows per group of a table without a group column', wholeNumber(1, 1e6))
    .option('--known <id>', 'print one line of the table of known forms instead, e.g. verl/grpo')
    .addHelpText(
      'after',
      `
Tries every known form of every trainer: which explain all rows, how far the others are, and which rewards would tell the
fitting ones apart. A table has the columns group, reward and advantage, as CSV or JSON lines. Without a group column the
groups are blocks of rows, and each size that divides the rows is tried.
Exit status: 3 a form explains all rows (inferred, so no proof), 1 none does, 2 the file is unreadable.

Examples:
  echelon identify completions_00010.parquet
  printf 'group,reward,advantage\\na,1,1.4997\\na,0,-0.4999\\na,0,-0.4999\\na,0,-0.4999\\n' | echelon identify`,
    )
    .action(
      async (path: string | undefined, options: { json?: boolean; groupSize?: number; known?: string }) => {
        process.exitCode =
          options.known === undefined
            ? await identifyFile(path, options, io(options))
            : showKnownForm(options.known, options, io(options));
      },
    );
}
