/**
 * The text of a help with no line longer than `width`, broken at words. A line that is a command stays one: its parts end
 * with a backslash, as a shell has it.
 */
export function wrappedHelp(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => (line.length <= width ? line : broken(line, width)))
    .join('\n');
}

const COMMAND = /^ {2}(?:[A-Z_]+=\S+ )?echelon /;
/** Between two words, of which a quoted text is one. */
const BETWEEN_WORDS = / +(?=(?:[^"']|"[^"]*"|'[^']*')*$)/;

function broken(line: string, width: number): string {
  const indent = /^ */.exec(line)![0];
  const isCommand = COMMAND.test(line);
  // A remark is set apart by more spaces than it needs.
  const remark = isCommand ? line.search(/ {2,}#/) : -1;
  if (remark !== -1) {
    const [command, rest] = [line.slice(0, remark), line.slice(remark).trim()];
    return `${command}  ${rest}`.length <= width ? `${command}  ${rest}` : `${indent}${rest}\n${command}`;
  }
  const next = isCommand ? `${indent}    ` : indent;
  const end = isCommand ? ' \\' : '';
  const lines: string[] = [];
  let at = indent;
  for (const word of line.trim().split(isCommand ? BETWEEN_WORDS : / +/)) {
    const longer = at.trim() === '' ? `${at}${word}` : `${at} ${word}`;
    if (longer.length + end.length <= width || at.trim() === '') at = longer;
    else {
      lines.push(`${at}${end}`);
      at = `${next}${word}`;
    }
  }
  return [...lines, at].join('\n');
}
