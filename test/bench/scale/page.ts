import { readPage, writePage } from '../harness.ts';
import type { Outcome } from './section.ts';
import { sizing } from './sizing.ts';

/** The sections of the page, by name, in its order. */
const TITLES = {
  running: 'Running attempts',
  queued: 'Queued experiments',
  sweep: 'Sweeps',
  metrics: 'Metrics and logs',
  followers: 'Followers',
  restart: 'Restart of everything',
  soak: 'Soak',
  heap: 'Memory after garbage collection',
};

const HEAD = `# Scale

This page shows how the cost of the service grows with what it carries, and which resource ends each curve. Every section is one command;
each names its machine. A stand-in process takes the part of the cluster, so that two cores can carry thousands of attempts. Redis writes
to disk before it answers, and all programs share the cores. A figure with a range is the median, with the least and the most of 3 to 5 rounds.`;

const PAGE = 'evidence/scale';

/** Replaces one section of the page; the others stay as they were measured. */
export function writeSection(name: string, outcome: Outcome): void {
  const sections = readSections().set(name, outcome);
  const parts = Object.entries(TITLES).flatMap(([key, title]) => {
    const section = sections.get(key);
    if (section === undefined) return [];
    return [`## ${title}\n\n<!-- ${key} ${JSON.stringify(section.figures)} -->\n\n${section.text}`];
  });
  const needed = sizing(new Map([...sections].map(([key, { figures }]) => [key, figures])));
  const tail = needed === undefined ? [] : [`## What to add for ten times the load\n\n${needed}`];
  writePage(PAGE, () => `${[HEAD, ...parts, ...tail].join('\n\n')}\n`);
}

/** A comment under each title holds the section's name and figures. */
function readSections(): Map<string, Outcome> {
  const found = new Map<string, Outcome>();
  for (const part of readPage(PAGE).split(/^## /m).slice(1)) {
    const match = /<!-- (\S+) (\{.*\}) -->\n([\s\S]*)/.exec(part);
    if (match) found.set(match[1]!, { figures: JSON.parse(match[2]!), text: match[3]!.trim() });
  }
  return found;
}
