import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { json, type Output } from '../output.ts';

/** The version of this package. */
export const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** `echelon version`: of the package and of what it runs on. */
export function versionCommand(output: Output): Command {
  return new Command('version')
    .description('print the version of Echelon and of the Node that runs it')
    .option('--json', 'print JSON, for scripts')
    .addHelpText('after', '\nExample:\n  echelon version')
    .action(({ json: asJson }: { json?: boolean }) => {
      const node = process.versions.node;
      output.line(asJson ? json({ version: VERSION, node }) : `echelon ${VERSION} (Node ${node})`);
    });
}
