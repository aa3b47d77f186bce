/** Characters that a terminal obeys, that turn or break a line, or that are invisible. */
const NOT_INERT =
  /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u{200b}\u{2060}-\u{206f}\u{feff}\u{e0000}-\u{e007f}]/gu;

/**
 * Foreign text made safe to show in one line, in a terminal or on a page: control and invisible characters and line feeds are
 * shown as escapes. Tabs stay.
 */
export function inert(text: string): string {
  // A name with a line feed could otherwise forge a line of a report, or give a command to a runner (`::error`).
  return inertText(text).replaceAll('\n', '\\u000a');
}

/** The same for a text of several lines: its line feeds stay. */
export function inertText(text: string): string {
  // The output of a training could otherwise rewrite the terminal of the user who watches it.
  return text.replace(NOT_INERT, (char) => {
    if (char === '\t' || char === '\n') return char;
    const code = char.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** Equivalent JSON in which characters that a terminal obeys or hides are escaped. */
export function inertJson(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // Every line feed stands between two values: JSON.stringify escapes those inside a string.
  return text.replace(NOT_INERT, (char) => (char === '\n' ? char : char.split('').map(escaped).join('')));
}
