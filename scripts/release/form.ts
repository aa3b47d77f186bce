/**
 * How people get the programs: from a clone until a release exists, by their published names after it. The one place that says so.
 * `npm run release -- --form published` rewrites the files; the release is made from the commit with them.
 */

import { readFileSync, writeFileSync } from 'node:fs';

/** Where the programs come from. */
export type Form = 'clone' | 'published';

/** One text of a file in both forms. */
interface Line extends Readonly<Record<Form, string>> {
  readonly file: string;
}

const LINES: readonly Line[] = [
  {
    file: 'README.md',
    clone:
      'uvx --from ./deploy/python echelon-verify test/golden/dumps/trl/group   # in a clone; put your folder here\n',
    published:
      'uvx echelon-verify                                                      # in the folder of your run\n',
  },
  {
    file: 'README.md',
    clone: 'The package is not published yet, so the first line needs a clone. The other two set up',
    published: 'The other two need a clone and set up',
  },
  {
    file: 'packages/echelon-verify/src/cli/capture-install.ts',
    clone: "'pip install ./deploy/capture, in a clone of Echelon'",
    published: "'pip install echelon-capture'",
  },
  {
    file: 'deploy/action/action.yml',
    // GitHub lays the repository of an action beside it.
    clone: 'default: pipx run --quiet --spec "$GITHUB_ACTION_PATH/../python" echelon-verify\n',
    published: 'default: pipx run --quiet echelon-verify\n',
  },
];

/** The files that differ between the forms, with their texts in this one. Throws an Error that names a text that is in neither form. */
export function inForm(form: Form, read = (file: string) => readFileSync(file, 'utf8')): Map<string, string> {
  const texts = new Map<string, string>();
  for (const line of LINES) {
    const text = texts.get(line.file) ?? read(line.file);
    const other = form === 'clone' ? 'published' : 'clone';
    if (!text.includes(line[form]) && !text.includes(line[other]))
      throw new Error(
        `${line.file} has neither form of ${JSON.stringify(line.clone)}: correct scripts/release/form.ts`,
      );
    texts.set(line.file, text.includes(line[form]) ? text : text.replace(line[other], () => line[form]));
  }
  return texts;
}

/** The files that are not in the form. */
export const notInForm = (form: Form): string[] =>
  [...inForm(form)].filter(([file, text]) => readFileSync(file, 'utf8') !== text).map(([file]) => file);

/** Rewrites the files. */
export function writeForm(form: Form): void {
  for (const [file, text] of inForm(form)) writeFileSync(file, text);
}
