// The documentation as a site: `npm run docs` builds it. Pages are the Markdown files of the checkout, at their paths.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchorOf } from '../../scripts/check-links.ts';

const root = join(import.meta.dirname, '../..');
const index = readFileSync(join(root, 'docs/index.md'), 'utf8');

const headingOf = (page) => /^# (.*)$/m.exec(readFileSync(join(root, page), 'utf8'))[1];

/** The headings of the index are groups of the side bar, and its links their pages. */
const sidebar = index
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.split('\n')[0],
    collapsed: false,
    items: [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text, link]) => ({
      text,
      link: `/${join('docs', link).replace(/\.md$/, '')}`,
    })),
  }));

/** Pages that are not in the repository, so that no page there links to them. */
sidebar.push({
  text: 'Made from the code',
  collapsed: false,
  items: readdirSync(join(root, 'docs/gen'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ text: headingOf(`docs/gen/${name}`), link: `/docs/gen/${name.replace(/\.md$/, '')}` })),
});

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A link to a file that is no page (an example, a test) becomes its path as text: the site holds pages alone. */
function linksToPagesOnly(md) {
  md.core.ruler.push('links-to-pages-only', (state) => {
    const page = dirname(join(root, state.env.relativePath ?? ''));
    for (const block of state.tokens) {
      for (const token of block.children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (href === null || /^(#|\/|[a-z]+:)/.test(href)) continue;
        const file = join(page, href.replace(/#.*$/, ''));
        const isPage = file.endsWith('.md') && existsSync(file) && statSync(file).isFile();
        if (!isPage) token.attrs = [['title', relative(root, file)]];
      }
    }
  });
}

// Pages outside of docs/ find the packages of docs/ by these names.
const packages = join(root, 'docs/node_modules');
const alias = {
  'vue/server-renderer': join(packages, '@vue/server-renderer/dist/server-renderer.esm-bundler.js'),
  vue: join(packages, 'vue/dist/vue.runtime.esm-bundler.js'),
};

export default {
  title: 'Echelon',
  description: 'Recomputes the advantages of an RL training, row by row',
  srcDir: '..',
  srcExclude: ['test/**', 'node_modules/**', '.venv/**', '.cache/**', 'dist/**', 'docs/node_modules/**'],
  outDir: 'dist',
  cacheDir: '../.cache/vitepress',
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  vite: { resolve: { alias } },
  markdown: { config: linksToPagesOnly, html: false, anchor: { slugify: anchorOf } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar,
    outline: { level: [2, 3] },
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Gallery', link: '/docs/gallery/' },
      { text: version, items: [{ text: 'Changelog', link: '/CHANGELOG' }] },
    ],
  },
};
