/** Height of a line in pixels, as `.log .lines` of screens.css. */
export const LINE_HEIGHT = 18;
/** Firefox draws no element above 17.9 million pixels. Longer logs scroll by a share of their height. */
const MAX_HEIGHT = 15_000_000;
const OVERSCAN = 10;

/** What a scrolled view of `total` lines shows: lines `first` to `last` (from 0), drawn `offset` pixels below the top. */
export interface LogWindow {
  height: number;
  first: number;
  last: number;
  offset: number;
}

/** The pixels of the scroll bar for each pixel of the lines. */
function scaleOf(total: number, view: number): { height: number; scale: number } {
  const full = total * LINE_HEIGHT;
  const height = Math.min(full, MAX_HEIGHT);
  return { height, scale: full > view ? (full - view) / (height - view) : 1 };
}

/** The lines in view when the scroll bar is at `top`. */
export function windowOf(total: number, { top, view }: { top: number; view: number }): LogWindow {
  const { height, scale } = scaleOf(total, view);
  const start = top * scale;
  const first = Math.max(0, Math.floor(start / LINE_HEIGHT) - OVERSCAN);
  const last = Math.min(total - 1, Math.ceil((start + view) / LINE_HEIGHT) + OVERSCAN);
  return { height, first, last, offset: top - (start - first * LINE_HEIGHT) };
}

/** Where the scroll bar has to be to show a line (from 0) in the middle. */
export function topOf(total: number, { line, view }: { line: number; view: number }): number {
  const { height, scale } = scaleOf(total, view);
  const start = line * LINE_HEIGHT - (view - LINE_HEIGHT) / 2;
  return Math.max(0, Math.min(height - view, start / scale));
}
