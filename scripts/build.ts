// Makes `dist` for the package: JavaScript and types of src, with the files that the program reads beside them.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, rmSync } from 'node:fs';
import { makeSources } from './sources.mjs';

await makeSources();
rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
  {
    stdio: 'inherit',
  },
);
if (status !== 0) process.exit(status ?? 1);
// What the compiler does not emit: Lua, and generated JavaScript with its types.
for (const file of globSync(['src/**/*.lua', 'src/!(dashboard)/**/gen/*.{js,d.ts}'])) {
  cpSync(file, file.replace(/^src/, 'dist'));
}
cpSync('src/dashboard/gen', 'dist/dashboard/gen', {
  recursive: true,
  filter: (file) => !file.endsWith('.inputs'),
});
chmodSync('dist/cli/main.js', 0o755);
