import { optionsOf } from './harness.ts';
import { followers } from './scale/followers.ts';
import { heap } from './scale/heap.ts';
import { metrics } from './scale/metrics.ts';
import { queued } from './scale/queued.ts';
import { restart } from './scale/restart.ts';
import { running } from './scale/running.ts';
import type { Section } from './scale/section.ts';
import { soak } from './scale/soak.ts';
import { sweep } from './scale/sweep.ts';

/* What the service costs over what it carries, with a stand-in cluster: one section for each curve, on one page. */

const SECTIONS: Readonly<Record<string, Section>> = {
  running,
  queued,
  sweep,
  metrics,
  followers,
  restart,
  soak,
  heap,
};

/** They take as long as `--minutes` says, and run only if named. */
const LONG: readonly string[] = ['soak', 'heap'];

const HELP = `usage: npm run bench -- scale [--section NAME] [--minutes N] [--write]
Runs every section but ${LONG.join(' and ')}, or the one that is named. --write puts each into docs/evidence/scale.md.
sections: ${Object.keys(SECTIONS).join(', ')}`;

/** `--section NAME`, `--minutes N` of a long one (480), `--write`. */
export async function run(args: readonly string[]): Promise<void> {
  const { section, minutes, write, help } = optionsOf(args, {
    section: '',
    minutes: 480,
    write: false,
    help: false,
  });
  if (help || (section !== '' && !Object.hasOwn(SECTIONS, section))) {
    console.log(HELP);
    if (!help) process.exitCode = 2;
    return;
  }
  const names = section === '' ? Object.keys(SECTIONS).filter((name) => !LONG.includes(name)) : [section];
  for (const name of names) {
    const began = performance.now();
    console.log(`\n${name}`);
    const outcome = await SECTIONS[name]!({ minutes });
    console.log(`\n${outcome.text}\n(${Math.round((performance.now() - began) / 1000)} s)`);
    if (!write) continue;
    // Not loaded before: the page may have changed while a soak ran for hours.
    const { writeSection } = await import('./scale/page.ts');
    writeSection(name, outcome);
  }
}
