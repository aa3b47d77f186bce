/** Characters of a text from a file, such as a name, that a report, an error or an answer shows at most. */
export const MAX_SHOWN_CHARACTERS = 200;

/** Characters of a sentence, with such texts in it. */
export const MAX_SENTENCE_CHARACTERS = 2_000;

/** Characters of an observation or an action, which people read. */
export const MAX_STATE_CHARACTERS = 20_000;

/** The text, or its beginning and how long it is: so that no answer grows with the texts of a file. */
export function cut(text: string, most: number = MAX_SHOWN_CHARACTERS): string {
  if (text.length <= most) return text;
  // Half of a surrogate pair is no character.
  const end = /[\ud800-\udbff]/.test(text[most - 1]!) ? most - 1 : most;
  return `${text.slice(0, end)}… (${text.length.toLocaleString('en-US')} characters)`;
}
