// Writes docs/gallery: for each public bug a file with its mistake, and the table of them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { BUGS, batchOf } from '../gallery/bugs.ts';
import { STEP_BUGS, stepFileOf } from '../gallery/steps.ts';
import { causeOf, commandOf, countsOf, fileOf, type Shown } from '../pages/gallery.ts';

/** The file of a bug, one column per line. */
function fileText(batch: object): string {
  return `${JSON.stringify(batch, null, 1)
    .replace(/\n {4,}(?=[^"\n]|"[^"\n]*",?\n)/g, ' ')
    .replace(/\n {3,}\]/g, ' ]')}\n`;
}

/** Writes the file of a bug, and gives its row of the table. */
async function row(bug: Shown, content: object): Promise<string> {
  writeFileSync(fileOf(bug), fileText(content));
  const what = [bug.mistake, bug.remark]
    .filter(Boolean)
    .join(' ')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');
  const command = commandOf(bug).replace(` ${fileOf(bug)}`, '');
  const file = `[${bug.name}](${bug.name}.json)`;
  return `| [${bug.title}](${bug.link}) | ${what} | ${file} | ${await countsOf(bug)} | \`${command}\`: ${(await causeOf(bug)).replaceAll('|', '\\|')} |`;
}

const HEAD = '| bug | mistake | file | outcome | cause |\n| --- | --- | --- | --- | --- |';

mkdirSync('docs/gallery', { recursive: true });
const advantages: string[] = [];
for (const bug of BUGS) advantages.push(await row(bug, batchOf(bug, 'wrong')));
const steps: string[] = [];
for (const bug of STEP_BUGS) steps.push(await row(bug, stepFileOf(bug, 'wrong')));

writeFileSync(
  'docs/gallery/index.md',
  `# Gallery of real bugs

Twenty public bugs trained models wrongly without an error message: ten of advantages, then ten of
[the training step](../explanation/verify-the-step.md) after them. Each file here has data of our own on which the mistake of the
thread gives other numbers than the formula.

\`echelon verify docs/gallery/FILE.json\` gives the outcome, with exit status 1 unless the text says otherwise. The command of the last
column shows the cause: \`echelon COMMAND docs/gallery/FILE.json\`.

The files hold what a trainer would have recorded. \`scripts/gallery\` makes them, and the same batches and steps without the mistake;
a test verifies both.

## Advantages

${HEAD}
${advantages.join('\n')}

## Training steps

${HEAD}
${steps.join('\n')}
`,
);
