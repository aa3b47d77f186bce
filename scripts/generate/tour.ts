// Writes docs/assets/tour.svg: a terminal that types the commands of the tour and shows what they print. It loops after 90 s.
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { fileCommands } from 'echelon-verify/cli';

/** Commands of `echelon`, one screen each, with a line above them that says what the reader sees. */
const SCREENS: readonly [remark: string, command: string][] = [
  ['A run of TRL, as it lies on the disk', 'verify test/golden/dumps/trl/group'],
  ['A public bug: most steps were trained with advantage 0', 'verify docs/gallery/skyrl-1492.json'],
  ['How the advantage of the first wrong row comes about', 'explain docs/gallery/skyrl-1492.json'],
  ['A row that float32 can give, and the formula does not', 'explain docs/gallery/nemo-rl-4158.json --row 7'],
  ['Which trainer computes like this?', 'identify docs/gallery/trl-3991.json'],
];

const TOUR_SECONDS = 90;
const COLUMNS = 104;
const ROWS = 34;
const [LINE, CHARACTER, MARGIN] = [18, 8.43, 16];
const SECONDS_PER_KEY = 0.05;

/** Runs a command of `echelon` and returns what it prints, as lines of at most {@link COLUMNS} characters. */
async function linesOf(command: string): Promise<string[]> {
  const parts: string[] = [];
  const stream = { write: (part: string) => parts.push(part) > 0 };
  const program = new Command();
  for (const one of fileCommands({ stdout: stream, stderr: stream } as never)) program.addCommand(one);
  await program.parseAsync(command.split(' '), { from: 'user' });
  process.exitCode = 0;
  const lines = parts.join('').trimEnd().split('\n').flatMap(wrapped);
  return lines.length <= ROWS - 3 ? lines : [...lines.slice(0, ROWS - 4), '…'];
}

function wrapped(line: string): string[] {
  if (line.length <= COLUMNS) return [line];
  const cut = line.lastIndexOf(' ', COLUMNS);
  const at = cut > COLUMNS / 2 ? cut : COLUMNS;
  return [line.slice(0, at), ...wrapped(`  ${line.slice(at).trimStart()}`)];
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const percent = (second: number): string => `${((100 * second) / TOUR_SECONDS).toFixed(3)}%`;

/** A class of elements that appear at `from` and disappear at `to`, both in seconds. */
function shownFrom(name: string, from: number, to: number): string {
  const on = `${percent(from)},${percent(to - 0.01)}{opacity:1}`;
  const off = `${from > 0 ? `0%,${percent(from - 0.01)},` : ''}${percent(Math.min(to, TOUR_SECONDS))},100%{opacity:0}`;
  return `@keyframes ${name}{${off}${on}}.${name}{opacity:0;animation:${name} ${TOUR_SECONDS}s step-end infinite}`;
}

function textLine(text: string, row: number, kind: string): string {
  const colour = /\bNOT OK|\bWRONG\b|^ +error /.test(text) ? 'bad' : kind;
  return `<text x="${MARGIN}" y="${MARGIN + LINE * (row + 1)}" class="${colour}" xml:space="preserve">${escaped(text)}</text>`;
}

const styles: string[] = [];
const groups: string[] = [];
const seconds = TOUR_SECONDS / SCREENS.length;
for (const [index, [remark, command]] of SCREENS.entries()) {
  const [start, end] = [index * seconds, (index + 1) * seconds];
  const typed = `$ echelon ${command}`;
  const keys = [...typed].map((key, at) => {
    const name = `k${index}-${at}`;
    styles.push(shownFrom(name, start + 1.5 + at * SECONDS_PER_KEY, end));
    return `<tspan class="${name}">${escaped(key)}</tspan>`;
  });
  const name = `s${index}`;
  const output = `o${index}`;
  styles.push(shownFrom(name, start, end));
  styles.push(shownFrom(output, start + 2 + typed.length * SECONDS_PER_KEY, end));
  const lines = (await linesOf(command)).map((line, row) => textLine(line, row + 2, 'plain'));
  groups.push(`<g class="${name}">
${textLine(`# ${remark}`, 0, 'remark')}
<text x="${MARGIN}" y="${MARGIN + LINE * 2}" class="typed" xml:space="preserve">${keys.join('')}</text>
<g class="${output}">
${lines.join('\n')}
</g>
</g>`);
}

const [width, height] = [COLUMNS * CHARACTER + 2 * MARGIN, LINE * ROWS + 2 * MARGIN].map(Math.ceil);
// Without animations the screen with the explanation stays.
const still = SCREENS.length - 3;
writeFileSync(
  'docs/assets/tour.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal that runs ${SCREENS.length} commands of echelon">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d7dae0}.remark{fill:#8b95a7}.typed{fill:#7dd3a8;font-weight:bold}.bad{fill:#ff7b86}
${styles.join('\n')}
@media (prefers-reduced-motion:reduce){*{animation:none!important}.s${still},.s${still} *{opacity:1!important}}</style>
<rect width="100%" height="100%" rx="10" fill="#171a21"/>
${groups.join('\n')}
</svg>
`,
);
