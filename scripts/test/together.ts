// Runs test files one after another in this process, so that they load the modules that they share once. Each file is
// a suite of its own: its hooks run around its own tests. Arguments: the files.
import { resolve } from 'node:path';
import { suite } from 'node:test';

for (const file of process.argv.slice(2))
  await suite(file, async () => {
    await import(resolve(file));
  });
