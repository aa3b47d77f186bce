import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { Command } from 'commander';
import type { Precision } from '../arithmetic/arithmetic.ts';
import type { Mapping } from '../dumps/adapter.ts';
import type { TextStreams } from './batch-files.ts';
import { mapOption, precisionOption } from './dump-options.ts';
import { identifyFile, showKnownForm } from './identify-file.ts';

/** `echelon identify`: names the arithmetic that gave the advantages. */
export function identifyCommand(io: (options: { json?: boolean | undefined }) => TextStreams): Command {
  return new Command('identify')
    .description('Identify the estimators that explain the advantages of a file.')
    .argument('[file]', 'batch file, dump or table (default: a table on standard input)')
    .option('--json', 'print JSON')
    .option('--group-size <n>', 'rows per group of a table without a group column', wholeNumber(1, 1e6))
    .addOption(mapOption())
    .addOption(precisionOption())
    .option('--known <id>', 'print one line of the table of known forms, such as verl/grpo')
    .addHelpText(
      'after',
      `
The command tries every known form of every trainer. It lists the forms that explain all rows, the distance of the \
others, and rewards that would distinguish the forms that fit. A table has the columns group, reward and advantage, as \
CSV or JSON lines. Without a group column, groups are blocks of rows, and each size that divides the rows is tried.
For optimizer steps (echelon-batch/3) it lists the changes of the stated arithmetic that explain every gradient \
coefficient, where gradients stop, and what reported values and denominators are.
Exit status: 3 a form explains all rows (inferred, so not proven), 1 no form does, 2 the file is unreadable.
${examples('echelon identify completions_00010.parquet')}
  printf 'group,reward,advantage\\na,1,1.4997\\na,0,-0.4999\\na,0,-0.4999\\na,0,-0.4999\\n' | echelon identify`,
    )
    .action(
      async (
        path: string | undefined,
        options: { json?: boolean; groupSize?: number; map?: Mapping; precision?: Precision; known?: string },
      ) => {
        process.exitCode =
          options.known === undefined
            ? await identifyFile(path, options, io(options))
            : showKnownForm(options.known, options, io(options));
      },
    );
}
