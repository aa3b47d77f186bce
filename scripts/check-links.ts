// Fails on links of the documentation that lead nowhere, and on pages that no page links to: `node scripts/check-links.ts`.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Files that are made and not in the repository. */
const MADE = /(^|\/)gen\//;

/** Text of Markdown without code, in which brackets are no links. */
const withoutCode = (markdown: string): string =>
  markdown
    .replace(/^ *(```|~~~)[\s\S]*?^ *\1/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));

/** The anchor of a heading, as GitHub and the site of the documentation make it. */
export function anchorOf(heading: string): string {
  const text = heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase();
  return text.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
}

/** The anchors of a page. A heading that repeats gets a number. */
function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of markdown.replace(/^ *(```|~~~)[\s\S]*?^ *\1/gm, '').matchAll(/^#+ +(.*)$/gm)) {
    const anchor = anchorOf(heading!);
    let unique = anchor;
    for (let times = 1; anchors.has(unique); times++) unique = `${anchor}-${times}`;
    anchors.add(unique);
  }
  return anchors;
}

/**
 * What is wrong with the links of `pages`, paths of Markdown files: a link to a file or a heading that does not exist, a link to a file
 * that is made (in a folder `gen`), which readers on the web do not have, and pages other than `start` to which no other page links (a
 * package's own README and a page that is made need no link). Addresses of other sites are not asked.
 */
export function linkProblems(pages: readonly string[], start: string): string[] {
  const problems: string[] = [];
  const linked = new Set([start]);
  for (const page of pages) {
    for (const [, link] of withoutCode(readFileSync(page, 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link!)) continue;
      const [path, anchor] = link!.split('#') as [string, string | undefined];
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(target)) problems.push(`${page} links to ${target}, which does not exist`);
      else if (MADE.test(target) && !MADE.test(page))
        problems.push(`${page} links to ${target}, which is not in the repository`);
      else if (anchor && target.endsWith('.md') && !anchorsOf(readFileSync(target, 'utf8')).has(anchor))
        problems.push(`${page} links to ${target}#${anchor}, and the page has no such heading`);
      if (target !== page) linked.add(target);
    }
  }
  const orphans = pages.filter(
    (page) => !linked.has(page) && !/^(deploy|packages)\//.test(page) && !MADE.test(page),
  );
  return [...problems, ...orphans.map((page) => `no page links to ${page}`)];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' });
  const pages = files
    .split('\n')
    .filter((file) => existsSync(file) && !/^(test|deploy\/.*\/tests)\//.test(file));
  const problems = linkProblems([...pages, ...globSync('docs/gen/*.md')], 'README.md');
  for (const problem of problems) console.error(problem);
  process.exit(problems.length === 0 ? 0 : 1);
}
