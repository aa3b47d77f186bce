import { Command } from 'commander';
import { RECIPES } from '../../engines/verl-agent/recipes.ts';
import { json, type Output, table } from '../output.ts';

/** `echelon recipes`: the scripts of verl-agent that can be run; asks no server. */
export function recipesCommand(output: Output): Command {
  return new Command('recipes')
    .summary('list the scripts of verl-agent that can be run')
    .description("list the scripts of verl-agent's recipe/hgpo that can be run; needs no server")
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon recipes\n  echelon plan --recipe qwen2.5_1.5b_alfworld_train --faithful',
    )
    .action((options: { json?: boolean }) => {
      const items = RECIPES.map(({ name, modelSize, environment, phase, gpus, program }) => ({
        ...{ name, modelSize, environment, phase, gpus, program },
      }));
      if (options.json) return output.line(json({ items }));
      const rows = items.map(({ name, modelSize, environment, phase, gpus }) => [
        ...[name, environment, modelSize, phase],
        gpus,
      ]);
      output.line(table(['RECIPE', 'ENVIRONMENT', 'MODEL', 'PHASE', 'GPUS'], rows));
    });
}
