import type { TextStreams } from 'echelon-verify/cli';
import { explainFile } from '../../packages/echelon-verify/src/cli/explain-file.ts';
import { identifyFile } from '../../packages/echelon-verify/src/cli/identify-file.ts';
import { verifyFiles } from '../../packages/echelon-verify/src/cli/verify-files.ts';
import { BUGS } from '../gallery/bugs.ts';
import { STEP_BUGS } from '../gallery/steps.ts';

/** A bug of the gallery, as far as a page shows it. */
export interface Shown {
  readonly name: string;
  readonly title: string;
  readonly link: string;
  readonly mistake: string;
  readonly remark?: string;
  readonly row?: number;
  readonly command?: 'explain' | 'identify' | 'verify';
}

export const fileOf = ({ name }: Shown): string => `docs/gallery/${name}.json`;

/** The command, after `echelon`, that shows the cause of a bug. */
export const commandOf = (bug: Shown): string =>
  `${bug.command ?? 'explain'} ${fileOf(bug)}${bug.row === undefined ? '' : ` --row ${bug.row}`}`;

/** What a command prints on standard output. */
async function printed(command: (io: TextStreams) => Promise<number>): Promise<string> {
  const parts: string[] = [];
  const stdout = { write: (part: string) => parts.push(part) > 0 };
  await command({ stdout, stderr: process.stderr });
  return parts.join('').trim();
}

const verified = (bug: Shown): Promise<string> => printed((io) => verifyFiles([fileOf(bug)], {}, io));

/** The last line that `echelon verify` prints on the file of a bug. */
export const countsOf = async (bug: Shown): Promise<string> => (await verified(bug)).split('\n').at(-1)!;

/** What the command that shows the cause prints. */
function shownOf(bug: Shown): Promise<string> {
  const { row, command = 'explain' } = bug;
  return {
    verify: () => verified(bug),
    identify: () => printed((io) => identifyFile(fileOf(bug), {}, io)),
    explain: () => printed((io) => explainFile(fileOf(bug), row === undefined ? {} : { row }, io)),
  }[command]();
}

const CAUSES = [
  /Likely cause: (.+)\./,
  /this explains all of them:\n +(.+)/,
  /reported \w+ [\d.]+: (it is .+?);/,
  /(?:broken at|warning) (.+?)(?::|\n)/,
  /(The reported value .+?);/,
];

/** The sentence about the cause in what `explain`, `identify` or `verify` prints. */
export function causeIn(text: string): string {
  const found = CAUSES.map((pattern) => pattern.exec(text)?.[1]).find((one) => one !== undefined);
  if (found === undefined) throw new Error(`no cause in ${text}`);
  return found;
}

export const causeOf = async (bug: Shown): Promise<string> => causeIn(await shownOf(bug));

async function section(bug: Shown): Promise<string> {
  const file = fileOf(bug);
  return `## ${bug.title}

${bug.mistake} [Thread](${bug.link}), [file](../gallery/${bug.name}.json).${bug.remark ? `\n\n${bug.remark}` : ''}

\`\`\`console
$ echelon verify ${file} | tail -n1
${await countsOf(bug)}
$ echelon ${commandOf(bug)}
${await shownOf(bug)}
\`\`\`
`;
}

/** What the commands print on each file of docs/gallery. */
export async function galleryPage(): Promise<string> {
  const sections: string[] = [];
  for (const bug of [...BUGS, ...STEP_BUGS]) sections.push(await section(bug));
  return `# Output on the gallery

[The gallery](../gallery/index.md) has twenty public bugs. This page shows what the commands print on their files.

${sections.join('\n')}`;
}
