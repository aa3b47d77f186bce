import { readFileSync } from 'node:fs';
import { notInForm } from './form.ts';

/** Why the checkout is not that of a release, in words. `git`: what git answers. */
export function problemsOf(git: (args: readonly string[]) => string): string[] {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const problems: string[] = [];
  if (git(['status', '--porcelain']).trim() !== '')
    problems.push('The tree has changes. Commit them, or remove them.');
  if (!git(['tag', '--points-at', 'HEAD']).split('\n').includes(`v${version}`))
    problems.push(`HEAD has no tag v${version}. Set the version, commit, and tag that commit.`);
  const unflipped = notInForm('published');
  if (unflipped.length > 0)
    problems.push(
      `${unflipped.join(', ')} still say how to use a clone. Run \`npm run release -- --form published\` and commit.`,
    );
  return [...problems, ...changelogProblems(readFileSync('CHANGELOG.md', 'utf8'), version)];
}

/** The section of a version in a changelog; empty if there is none. */
export const sectionOf = (changelog: string, version: string): string =>
  changelog
    .split(/^(?=## )/m)
    .find((one) => one.startsWith(`## [${version}]`))
    ?.trim() ?? '';

/** What a changelog lacks for the release of a version. */
export function changelogProblems(changelog: string, version: string): string[] {
  const [, ...sections] = changelog.split(/^## /m);
  const of = (name: string) => sections.find((one) => one.startsWith(`[${name}]`));
  const heading = of(version)?.split('\n', 1)[0];
  if (heading === undefined) return [`CHANGELOG.md has no section [${version}].`];
  const problems: string[] = [];
  if (!/^\[\S+\] - \d{4}-\d\d-\d\d$/.test(heading))
    problems.push(
      `The section of the changelog is "${heading}"; it must have the date, as [${version}] - 2026-01-31.`,
    );
  if (/^- /m.test(of('Unreleased') ?? ''))
    problems.push(`CHANGELOG.md has entries under [Unreleased]. Move them to [${version}].`);
  return problems;
}
