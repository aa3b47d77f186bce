// Builds pages of one HTML file: script and style are inside it, and its policy allows nothing else.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BROWSER_ALIASES } from 'echelon-verify/browser/node/aliases';
import { build, type Rolldown } from 'vite';

/** Parts of a page, and the licences of the packages in its script. */
interface Bundled {
  readonly script: string;
  readonly style: string;
  readonly notices: string;
}

const NOTICES = 'THIRD-PARTY.md';

async function bundled(main: string): Promise<Bundled> {
  const jsx = { runtime: 'automatic' as const, importSource: 'preact' };
  const built = (await build({
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx },
    resolve: { alias: BROWSER_ALIASES },
    build: {
      write: false,
      target: 'es2023',
      minify: true,
      license: { fileName: NOTICES },
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      cssCodeSplit: false,
      rolldownOptions: {
        input: join(import.meta.dirname, 'src/report', main),
        output: { format: 'iife', codeSplitting: false },
      },
    },
  })) as Rolldown.RolldownOutput;
  const script = built.output.find((file) => file.type === 'chunk')!.code;
  const style = built.output.find((file) => file.fileName.endsWith('.css')) as Rolldown.OutputAsset;
  // Inside of a script, these would end or reopen it.
  const notices = built.output.find((file) => file.fileName === NOTICES) as Rolldown.OutputAsset;
  return {
    notices: String(notices.source),
    script: script.replaceAll(/<(?=\/script|!--|script)/gi, '\\x3c'),
    style: String(style.source),
  };
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function pageOf({ script, style, notices }: Bundled): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Echelon</title>
<style>${style}</style>
<!-- Third parties.
${notices.replaceAll('--', '- -')}-->
</head>
<body>
<div id="app"></div>
<noscript>This report needs JavaScript. The command that made it prints the same as text.</noscript>
<!--report-->
<script>${script}</script>
</body>
</html>
`;
}

/** Writes `page.js` into `folder`: a module with the page as text, in which the parts of a report replace `<!--report-->`. */
export async function buildReportPage(folder: string): Promise<void> {
  const page = pageOf(await bundled('main.tsx'));
  writeFileSync(join(folder, 'page.js'), `export const page = ${JSON.stringify(page)};\n`);
  writeFileSync(join(folder, 'page.d.ts'), 'export declare const page: string;\n');
}

/** Writes `comparison.html` into `folder`: the page of a comparison, whose data replace `<!--report-->`. */
export async function buildComparisonPage(folder: string): Promise<void> {
  writeFileSync(join(folder, 'comparison.html'), pageOf(await bundled('comparison-main.tsx')));
}
