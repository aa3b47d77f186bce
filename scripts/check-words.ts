// Fails on words that the glossary replaces and on long sentences in documentation: `node scripts/check-words.ts [PATH…]`.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** A word that the project does not use, and what to write instead. */
export interface BannedWord {
  pattern: RegExp;
  use: string;
  /** Files to which it applies. Default: all. */
  files?: RegExp;
}

/** Something that the check found. */
export interface Hit {
  line: number;
  found: string;
  use: string;
}

const PROSE = /\.md$/;

/** Patterns see identifiers as separate words: `mendLines` reads "mend Lines", `goes_on` "goes on". */
export const BANNED: BannedWord[] = [
  { pattern: /\bmend(s|ed|ing)?\b/i, use: 'remedy (noun), fix (verb)' },
  {
    pattern: /\b(whoever|nobody|somebody)\b/i,
    use: 'name the actor: the user, the operator, the caller, another process',
  },
  { pattern: /\bwho (waits|holds|runs)\b/i, use: 'name the thing: a queued experiment, the lease holder' },
  { pattern: /\b(left|leaves?|leaving) out\b/i, use: 'omitted, omit' },
  { pattern: /\bpass(ed over|(es)? over (it|them|what|those))\b/i, use: 'ignored, skipped' },
  { pattern: /\b(go|goes|going|gone|went) on\b/i, use: 'continue, resume' },
  // A server may stand behind a proxy; in time and in order it is "after".
  { pattern: /\bbehind\b(?! (a|an|the|its|your|any) )/i, use: 'after (in time or order)' },
  { pattern: /\b(MOST|LEAST)_[A-Z]/, use: 'MAX_, MIN_' },
  { pattern: /\btwins?\b/i, use: 'duplicate' },
  { pattern: /\bsharpness\b/i, use: 'detection power' },
  { pattern: /\btap(s|ped|ping)?\b/i, use: 'capture hook, captured batch' },
  { pattern: /\boutr[au]n\b/i, use: 'stale' },
  { pattern: /\bbell\b/i, use: 'wake-up' },
  { pattern: /\b(insist|patiently)\b/i, use: 'retry, retryUntil' },
  { pattern: /\bhand(ed|s|ing)? out\b/i, use: 'allocated, allocate' },
  {
    pattern:
      /\b(waiting line|(wait|waits|waiting|place|position) in (the )?line|line full|line of experiments)/i,
    use: 'queue',
  },
  { pattern: /\bpromises?\b/, use: 'guarantee', files: PROSE },
  { pattern: /\b(chapters?|stories|story)\b/i, use: 'attempt lifecycle' },
  { pattern: /\bwhere (it|one|none|nothing|there|they|no)\b/i, use: 'if, when; or "in which" for a place' },
  { pattern: /\b(is|are|was|were|be|been) told\b/i, use: 'name the actor: X reports, receives, states' },
  {
    pattern: /\bwhat (runs|waits|goes|stands|comes|came)\b/i,
    use: 'a noun: running experiments, queued experiments',
  },
  { pattern: /\bsuch thing\b/i, use: 'name the resource' },
  { pattern: /\bverdicts?\b/i, use: 'report (of a batch), outcome (of a row)' },
  { pattern: /\bsuspicions?\b/i, use: 'finding' },
  {
    pattern: /(?<!ray-|ray |bullmq |thread )\bworkers?\b(?! (threads?|pool))/i,
    use: 'ray-worker, BullMQ worker or worker thread',
    files: PROSE,
  },
];

/** Text that may use a banned word, and why. */
const ALLOWED: { files: RegExp; text: RegExp; reason: string }[] = [
  {
    files: /^scripts\/check-words\.ts$|^test\/pure\/scripts\/check-words\.test\.ts$/,
    text: /./,
    reason: 'the list itself',
  },
  { files: /^CHANGELOG\.md$/, text: /./, reason: 'names what earlier versions called things' },
];

/** Machine-made or recorded data; its sources are checked instead. */
const SKIPPED =
  /(^|\/)gen\/|\.(json|jsonl|bin|svg|png|lock|parquet|pt|gz|zst)$|^test\/golden\/|requirements[^/]*\.txt$/;
/** Words of a sentence in documentation. */
export const MAX_WORDS = 35;

/** The banned words of a file. */
export function bannedIn(path: string, text: string): Hit[] {
  const banned = BANNED.filter(({ files }) => files === undefined || files.test(path));
  const allowed = ALLOWED.filter(({ files }) => files.test(path));
  return text.split('\n').flatMap((line, at) => {
    if (allowed.some((entry) => entry.text.test(line))) return [];
    // What a page quotes is named, and checked, in the code.
    const quoted = PROSE.test(path) ? line.replace(/`[^`]*`/g, 'code') : line;
    const words = quoted.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
    return banned.flatMap(({ pattern, use }) => {
      const found = (pattern.exec(words) ?? pattern.exec(quoted))?.[0];
      return found === undefined ? [] : [{ line: at + 1, found, use }];
    });
  });
}

/** Sentences of more than {@link MAX_WORDS} words in a page of Markdown: code blocks do not count, an inline code is a word. */
export function longSentencesIn(markdown: string): Hit[] {
  const hits: Hit[] = [];
  for (const { text, line } of blocksOf(markdown)) {
    for (const sentence of text.replace(/`[^`]*`/g, 'code').split(/(?<=[.!?:])[)"”*_]*\s+/)) {
      const words = sentence.split(/\s+/).filter((word) => /^[\p{P}]*\p{L}{2,}/u.test(word));
      if (words.length <= MAX_WORDS) continue;
      const found = `${words.length} words: "${words.slice(0, 8).join(' ')} …"`;
      hits.push({ line, found, use: `at most ${MAX_WORDS} words a sentence` });
    }
  }
  return hits;
}

/** Paragraphs, list items, headings and cells of tables. */
function blocksOf(markdown: string): { text: string; line: number }[] {
  const blocks: { text: string; line: number }[] = [];
  let open: { text: string; line: number } | undefined;
  let fenced = false;
  for (const [at, line] of markdown.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    const begins = /^\s*([-*+]|\d+\.)\s|^#|^\s*\||^>/.test(line);
    if (fenced || line.trim() === '' || begins) open = undefined;
    // Indented code.
    const code = open === undefined && /^( {4}|\t)/.test(line) && !begins;
    if (fenced || code || line.trim() === '' || /^\s*(```|~~~|<)/.test(line)) continue;
    if (line.trim().startsWith('|')) {
      blocks.push(...line.split('|').map((text) => ({ text, line: at + 1 })));
    } else if (open) {
      open.text += ` ${line}`;
    } else {
      open = { text: line, line: at + 1 };
      blocks.push(open);
    }
  }
  return blocks.map(({ text, line }) => ({ text: text.replace(/\]\([^)]*\)/g, ']'), line }));
}

/** Long sentences in the descriptions and summaries of the OpenAPI document. */
export function longDescriptionsIn(document: string): Hit[] {
  return document.split('\n').flatMap((line, at) => {
    const text = /"(?:description|summary)": ("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
    return text === undefined
      ? []
      : longSentencesIn(JSON.parse(text)).map((hit) => ({ ...hit, line: at + 1 }));
  });
}

function main(paths: string[]): void {
  const tracked = execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8', maxBuffer: 1e8 });
  const files = tracked.split('\n').filter((path) => path !== '' && !SKIPPED.test(path));
  if (paths.length === 0) files.push(...globSync('docs/gen/*'));
  let count = 0;
  for (const path of files) {
    const text = readFileSync(path, 'utf8');
    const hits = path.endsWith('/openapi.json') ? longDescriptionsIn(text) : bannedIn(path, text);
    if (PROSE.test(path) && path !== 'CHANGELOG.md') hits.push(...longSentencesIn(text));
    for (const { line, found, use } of hits) console.log(`${path}:${line}: ${found} → ${use}`);
    count += hits.length;
  }
  if (count === 0) return;
  console.log(`${count} to rewrite; the right-hand side says how`);
  process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
