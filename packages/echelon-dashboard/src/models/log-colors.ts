import type { Style } from 'command-kit/colors';

/** The eight colours of terminals, as classes of screens.css. Black, white and greys are the colour of the page's text. */
const NAMES = ['', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', ''] as const;

/** Classes of a part of a log line. Backgrounds are not shown: on a page of either theme they would hide texts. */
export function classesOf({ bold, dim, italic, underline, color }: Style): string {
  const name = color === undefined ? '' : nameOf(color.split(';').map(Number));
  return [
    name && `sgr-${name}`,
    bold && 'sgr-bold',
    dim && 'sgr-dim',
    italic && 'sgr-italic',
    underline && 'sgr-underline',
  ]
    .filter(Boolean)
    .join(' ');
}

/** The nearest of the eight colours to SGR's parameters. */
function nameOf([kind = 0, form, ...values]: number[]): string {
  if (kind !== 38) return NAMES[kind % 10]!;
  if (form === 5) {
    const at = values[0]!;
    if (at < 16) return NAMES[at % 8]!;
    // A cube of 6 × 6 × 6 colours, then greys.
    if (at >= 232) return '';
    return nearest([36, 6, 1].map((part) => Math.floor((at - 16) / part) % 6));
  }
  return nearest(values);
}

/** Each part is on if it is in the upper half of the parts' span. */
function nearest(parts: readonly number[]): string {
  const [least, most] = [Math.min(...parts), Math.max(...parts)];
  if (most - least < most / 4) return '';
  const at = parts.reduce((sum, part, index) => sum + (part > (least + most) / 2 ? 2 ** index : 0), 0);
  return NAMES[at]!;
}
