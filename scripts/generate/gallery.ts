// Writes docs/gallery: for each public bug a file with its mistake, and the page that explains what the verifier says about it.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { TextStreams } from 'echelon-verify/cli';
import { explainFile } from '../../packages/echelon-verify/src/cli/explain-file.ts';
import { identifyFile } from '../../packages/echelon-verify/src/cli/identify-file.ts';
import { verifyFiles } from '../../packages/echelon-verify/src/cli/verify-files.ts';
import { BUGS, batchOf } from '../gallery/bugs.ts';
import { STEP_BUGS, stepFileOf } from '../gallery/steps.ts';

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

interface Section {
  name: string;
  title: string;
  link: string;
  mistake: string;
  remark?: string;
  row?: number;
  command?: 'explain' | 'identify' | 'verify';
}

/** Writes the file of a bug, and gives its section of the page. */
async function section(bug: Section, content: object): Promise<string> {
  const file = `${FOLDER}/${bug.name}.json`;
  writeFileSync(file, fileText(content));
  const { row, command = 'explain' } = bug;
  const verified = await printed((io) => verifyFiles([file], {}, io));
  const counts = verified.split('\n').at(-1);
  const shown = await {
    verify: () => verified,
    identify: () => printed((io) => identifyFile(file, {}, io)),
    explain: () => printed((io) => explainFile(file, row === undefined ? {} : { row }, io)),
  }[command]();
  return `## ${bug.title}

${bug.mistake} [Thread](${bug.link}), [file](${bug.name}.json).${bug.remark ? `\n\n${bug.remark}` : ''}

\`\`\`console
$ echelon verify ${file} | tail -n1
${counts}
$ echelon ${command} ${file}${row === undefined ? '' : ` --row ${row}`}
${shown}
\`\`\`
`;
}

mkdirSync(FOLDER, { recursive: true });
const advantages: string[] = [];
for (const bug of BUGS) advantages.push(await section(bug, batchOf(bug, 'wrong')));
const steps: string[] = [];
for (const bug of STEP_BUGS) steps.push(await section(bug, stepFileOf(bug, 'wrong')));

writeFileSync(
  `${FOLDER}/index.md`,
  `# Gallery of real bugs

Twenty public bugs trained models wrongly without an error message: ten of advantages, then ten of
[the training step](../explanation/verify-the-step.md) after them. Each file here has data of our own on which the mistake of the
thread gives other numbers than the formula. Each \`verify\` below exits with status 1, unless the text says otherwise.

The files hold what a trainer would have recorded. \`scripts/gallery\` makes them, and the same batches and steps without the mistake;
a test verifies both.

# Advantages

${advantages.join('\n')}
# Training steps

${steps.join('\n')}`,
);
