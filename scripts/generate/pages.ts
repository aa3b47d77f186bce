// Writes the folder docs/gen: the pages that the site and a release have and the repository does not. CONTRIBUTING.md says why.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliMarkdown } from '../../src/cli/reference.ts';
import { errorsMarkdown } from '../../src/http/server/error-docs.ts';
import { galleryPage } from '../pages/gallery.ts';
import { metricsPage } from '../pages/metrics.ts';
import { settingsPage } from '../pages/settings.ts';
import { specPage } from '../pages/spec.ts';

const FOLDER = 'docs/gen';

const pages = {
  cli: await cliMarkdown(),
  errors: errorsMarkdown(),
  gallery: await galleryPage(),
  metrics: await metricsPage(),
  settings: settingsPage(),
  spec: specPage(),
};
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER);
for (const [name, text] of Object.entries(pages)) writeFileSync(join(FOLDER, `${name}.md`), text);
copyFileSync('src/http/gen/openapi.json', join(FOLDER, 'openapi.json'));
