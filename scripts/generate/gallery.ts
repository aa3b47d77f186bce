// Writes docs/gallery: for each public bug a batch file with its mistake, and the page that explains what the verifier says about it.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { TextStreams } from 'echelon-verify/cli/batch-files';
import { explainFile } from 'echelon-verify/cli/explain-file';
import { verifyFiles } from 'echelon-verify/cli/verify-files';
import { BUGS, batchOf } from '../gallery/bugs.ts';

const FOLDER = 'docs/gallery';

/** The file of a bug, one column per line. */
function fileText(batch: object): string {
  return `${JSON.stringify(batch, null, 1)
    .replace(/\n {4,}(?=[^"\n]|"[^"\n]*",?\n)/g, ' ')
    .replace(/\n {3,}\]/g, ' ]')}\n`;
}

/** What a command prints on standard output. */
async function printed(command: (io: TextStreams) => Promise<number>): Promise<string> {
  const parts: string[] = [];
  const stdout = { write: (part: string) => parts.push(part) > 0 };
  await command({ stdout, stderr: process.stderr });
  return parts.join('').trim();
}

const sections: string[] = [];
mkdirSync(FOLDER, { recursive: true });
for (const bug of BUGS) {
  const file = `${FOLDER}/${bug.name}.json`;
  writeFileSync(file, fileText(batchOf(bug, 'wrong')));
  const { row } = bug;
  const counts = (await printed((io) => verifyFiles([file], {}, io))).split('\n').at(-1);
  const explanation = await printed((io) => explainFile(file, row === undefined ? {} : { row }, io));
  sections.push(`## ${bug.title}

${bug.mistake} [Thread](${bug.link}), [file](${bug.name}.json).${bug.remark ? `\n\n${bug.remark}` : ''}

\`\`\`console
$ echelon verify ${file} | tail -n1
${counts}
$ echelon explain ${file}${row === undefined ? '' : ` --row ${row}`}
${explanation}
\`\`\`
`);
}

writeFileSync(
  `${FOLDER}/index.md`,
  `# Gallery of real bugs

Ten public bugs made advantages wrong without an error message. Each file here has data of our own on which the mistake of the
thread gives other numbers than the formula. Each \`verify\` below exits with status 1, unless the text says otherwise.

The files hold what a trainer would have recorded: groups, rewards and the advantages that it used. They are made by
\`scripts/gallery/bugs.ts\`, which also has the right advantages; a test verifies both.

${sections.join('\n')}`,
);
