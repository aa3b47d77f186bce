import { Command } from 'commander';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { VERSION } from '../package-version.ts';

/** `echelon version`: the versions of the package and of Node. */
export function versionCommand(output: Output): Command {
  return new Command('version')
    .description('Print the versions of Echelon and of Node.')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('echelon version'))
    .action(({ json: asJson }: { json?: boolean }) => {
      const node = process.versions.node;
      output.line(asJson ? json({ version: VERSION, node }) : `echelon ${VERSION} (Node ${node})`);
    });
}
