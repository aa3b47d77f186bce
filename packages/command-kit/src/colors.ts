import { inert } from './inert.ts';

/** How a terminal shows a part of a text. Colours are parameters of ECMA-48's SGR: `31`, `38;5;208`, `38;2;255;0;0`. */
export interface Style {
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
  color?: string;
  background?: string;
}

/** A part of a text in one style. */
export interface Span {
  text: string;
  style: Style;
}

/** Introducers of a terminal's sequences, as 7-bit and as 8-bit controls. */
const [ESC, CSI, STRINGS, ALERT, C1] = [
  '\u001b',
  '\u009b',
  '\u0090\u0098\u009d-\u009f',
  '\u0007',
  '\u0080-\u009f',
];
// Control sequences (a colour has its codes in the group), strings such as titles and links, and other escapes. Every repetition has
// a bound or ends at a control, so that a line costs its length.
const SEQUENCE = new RegExp(
  [
    String.raw`(?:${ESC}\[|${CSI})(?:([\d;:]{0,64})m|[0-?]{0,64}[ -/]{0,8}[@-~])`,
    String.raw`(?:${ESC}[PX\]^_]|[${STRINGS}])[^${ALERT}${ESC}${C1}]{0,4096}(?:${ALERT}|\u009c|${ESC}\\)`,
    `${ESC}[ -/]{0,8}[0-~]?`,
  ].join('|'),
  'g',
);
const CONTROL = /[\p{Cc}--[\t\n]]/gv;
const MAY_STEER = /[\p{Cc}--[\t\n]]/v;

/** A foreign line without colours, movements of the cursor and other controls. Invisible characters are shown as escapes. */
export function withoutControls(text: string): string {
  if (!MAY_STEER.test(text)) return inert(text);
  return inert(text.replace(SEQUENCE, '').replace(CONTROL, ''));
}

/** A foreign line as {@link withoutControls} has it, in parts of one style. */
export function spansOf(text: string): Span[] {
  if (!MAY_STEER.test(text)) return [{ text: inert(text), style: {} }];
  const spans: Span[] = [];
  let [style, start]: [Style, number] = [{}, 0];
  const add = (end: number) => {
    const part = inert(text.slice(start, end).replace(CONTROL, ''));
    const last = spans.at(-1);
    if (last?.style === style) last.text += part;
    else if (part !== '') spans.push({ text: part, style });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(match.index);
    start = match.index + match[0].length;
    if (match[1] !== undefined) style = restyled(style, match[1].split(/[;:]/).map(Number));
  }
  add(text.length);
  return spans;
}

/** A foreign line for a terminal: its colours and nothing else of its controls. It ends without a colour. */
export function colored(text: string): string {
  return spansOf(text)
    .map(({ text, style }) => {
      const codes = codesOf(style);
      return codes === '' ? text : `\u001b[${codes}m${text}\u001b[0m`;
    })
    .join('');
}

const FLAGS = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse' } as const;
const ENDS: Readonly<Record<number, (keyof Style)[]>> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  39: ['color'],
  49: ['background'],
};

function codesOf({ color, background, ...flags }: Style): string {
  const codes = Object.entries(FLAGS).filter(([, name]) => flags[name]);
  return [...codes.map(([code]) => code), color, background].filter((code) => code !== undefined).join(';');
}

/** The style after the codes of one sequence. Blinking and hidden text are not shown as such. */
function restyled(style: Style, codes: readonly number[]): Style {
  let next = { ...style };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    const end = ENDS[code];
    if (code === 0) next = {};
    else if (code in FLAGS) next[FLAGS[code as keyof typeof FLAGS]] = true;
    else if (end !== undefined) for (const name of end) delete next[name];
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) next.color = `${code}`;
    else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) next.background = `${code}`;
    else if (code === 38 || code === 48) {
      const length = codes[at + 1] === 5 ? 3 : 5;
      const wide = codes.slice(at, at + length);
      at += length - 1;
      if (wide.length === length && wide.slice(2).every((part) => part <= 255))
        next[code === 38 ? 'color' : 'background'] = wide.join(';');
    }
  }
  return next;
}
