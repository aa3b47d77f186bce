import { Command } from 'commander';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import { allRecipes } from '../../engines/recipes.ts';

/** `echelon recipes`: the scripts of verl-agent that Echelon can run; needs no server. */
export function recipesCommand(output: Output): Command {
  return new Command('recipes')
    .description("List the scripts of verl-agent's recipe/hgpo that Echelon can run. Needs no server.")
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('echelon recipes', 'echelon plan --recipe qwen2.5_1.5b_alfworld_train --faithful'),
    )
    .action((options: { json?: boolean }) => {
      const items = allRecipes().map(({ name, modelSize, environment, phase, gpus, program }) => ({
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
