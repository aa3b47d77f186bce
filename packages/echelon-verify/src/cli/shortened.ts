// An import of `node:util` would load all its parts.
const { stripVTControlCharacters } = process.getBuiltinModule('node:util');

/**
 * A text in at most `width` characters (at least 3). A longer text loses its middle: the names of a sweep's children begin
 * alike and differ at their end.
 */
export function shortened(text: string, width: number): string {
  const chars = [...text];
  if (chars.length <= width) return text;
  const end = Math.floor((width - 1) / 2);
  return `${chars.slice(0, width - 1 - end).join('')}…${chars.slice(-end).join('')}`;
}

/** Characters that take two columns of a terminal, and those that take none. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const EMPTY = /[\p{M}\p{Cf}\p{Cc}]/u;

/** The columns of a terminal that a line takes, without its colours. */
export function columnsOf(line: string): number {
  const text = stripVTControlCharacters(line);
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += EMPTY.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return columns;
}

/** The space at the start of a line, or its name if it is a name and a value in columns. */
const START = /^ *(?:[\w.-]+(?: [\w.-]+)* {2,})?/;
const COMMAND = /^ {2}(?:[A-Z_]+=\S+ )?(?:echelon|printf)\b/;

/**
 * A text with no line wider than `width` columns, broken between words. A word, and a text in backticks, is never broken.
 * The lines that follow a line are indented as its start is. An indented command stays one for a shell.
 */
export function wrapped(text: string, width: number = Number.POSITIVE_INFINITY): string {
  return text
    .split('\n')
    .map((line) => {
      if (columnsOf(line) <= width) return line;
      return COMMAND.test(line) ? command(line, width) : prose(line, width);
    })
    .join('\n');
}

function prose(line: string, width: number): string {
  const [start] = START.exec(line)!;
  const indent = ' '.repeat(start.length <= width / 2 ? start.length : 0);
  const lines: string[] = [];
  let at = start;
  for (const word of line.slice(start.length).match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const longer = at.endsWith(' ') || at === '' ? `${at}${word}` : `${at} ${word}`;
    if (columnsOf(longer) <= width || at.trim() === '') at = longer;
    else {
      lines.push(at.trimEnd());
      at = `${indent}${word}`;
    }
  }
  return [...lines, at].join('\n');
}

/** A command whose lines end with a backslash. Its remark is set apart by more spaces than it needs. */
function command(line: string, width: number): string {
  const [text, remark] = line.split(/ {2,}(?=#)/);
  const lines: string[] = [];
  let at = '';
  // An option stays with its value.
  for (const [word] of text!.matchAll(/(?:-\S+ (?!-))?(?:"[^"]*"|'[^']*'|\S)+/g)) {
    if (at === '') at = `  ${word}`;
    else if (columnsOf(`${at} ${word} \\`) <= width) at = `${at} ${word}`;
    else {
      lines.push(`${at} \\`);
      at = `      ${word}`;
    }
  }
  const whole = [...lines, at].join('\n');
  if (remark === undefined) return whole;
  return columnsOf(`${at}  ${remark}`) <= width ? `${whole}  ${remark}` : `  ${remark}\n${whole}`;
}
