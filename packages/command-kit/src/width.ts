import stringWidth from 'string-width';

/**
 * A text in at most `width` columns (at least 3). A longer text loses its middle: the names of a sweep's children begin
 * alike and differ at their end. No character is cut in two, whatever it is composed of.
 */
export function shortened(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  const characters = charactersOf(text);
  const end = fitting(characters.toReversed(), Math.floor((width - 1) / 2)).reverse();
  const start = fitting(characters, width - 1 - columnsOf(end.join('')));
  return `${start.join('')}…${end.join('')}`;
}

/** The first characters that take at most `width` columns together. */
function fitting(characters: readonly string[], width: number): string[] {
  let room = width;
  const over = characters.findIndex((character) => {
    room -= columnsOf(character);
    return room < 0;
  });
  return over < 0 ? [...characters] : characters.slice(0, over);
}

/** What a user sees as one character: a letter with its accents, a family of emoji. */
const charactersOf = (text: string): string[] =>
  Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);

const PLAIN = /^[ -~]*$/;

/** The columns of a terminal that a line takes, without its colours. */
export const columnsOf = (line: string): number => (PLAIN.test(line) ? line.length : stringWidth(line));

/** A text that is filled with blanks to `width` columns. */
export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - columnsOf(text)));

/** The parts of a word that stay in one line: scripts of wide characters have no blanks, and break between any two of these. */
export function partsOfWord(word: string): string[] {
  if (PLAIN.test(word)) return [word];
  const parts: string[] = [];
  let wasWide = true;
  for (const character of charactersOf(word)) {
    const isWide = columnsOf(character) > 1;
    if (isWide || wasWide) parts.push(character);
    else parts.push(parts.pop() + character);
    wasWide = isWide;
  }
  return parts;
}

/** The space at the start of a line, or its name if it is a name and a value in columns. */
const START = /^ *(?:[\w.-]+(?: [\w.-]+)* {2,})?/;
const COMMAND = /^ {2}(?:[A-Z_]+=\S+ )?(?:echelon|printf)\b/;

/**
 * A text with no line wider than `width` columns, broken between words. A word of narrow characters, and a text in
 * backticks, is never broken. The lines that follow a line are indented as its start is. An indented command stays one for a
 * shell.
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
    const parts = columnsOf(word) <= width - indent.length ? [word] : partsOfWord(word);
    for (const [index, part] of parts.entries()) {
      const isApart = index === 0 && at !== '' && !at.endsWith(' ');
      const longer = isApart ? `${at} ${part}` : `${at}${part}`;
      if (columnsOf(longer) <= width || at.trim() === '') at = longer;
      else {
        lines.push(at.trimEnd());
        at = `${indent}${part}`;
      }
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
