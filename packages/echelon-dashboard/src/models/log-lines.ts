import { withoutControls } from 'command-kit/colors';

/** The most lines that are held; the memory of the page does not depend on the length of the log. */
const MAX_LINES = 40_000;
/** Lines near the wanted ones that stay when others are dropped. */
const NEAR = 10_000;
/** Lines before a missing one that are loaded with it, for readers who scroll up. */
const BEFORE = 500;

/** Numbered lines of a log, loaded page by page when they are wanted. */
export interface LineCache<T> {
  get(line: number): T | undefined;
  put(lines: readonly T[]): void;
  /** Loads what is missing of lines `first` to `last`. While it loads, only the newest wish counts. */
  want(first: number, last: number): Promise<void>;
}

/** `load` answers lines from line `since` on, as many as it likes; `onLines` is called when new ones are there. */
export function createLineCache<T extends { line: number | null }>(
  load: (since: number) => Promise<readonly T[]>,
  onLines: () => void,
): LineCache<T> {
  const lines = new Map<number, T>();
  let wish = { first: 1, last: 0 };
  let busy = false;

  const firstMissing = (): number | undefined => {
    for (let line = wish.first; line <= wish.last; line++) if (!lines.has(line)) return line;
    return undefined;
  };
  const put = (page: readonly T[]) => {
    for (const one of page) if (one.line !== null) lines.set(one.line, one);
    if (lines.size <= MAX_LINES) return;
    for (const line of lines.keys())
      if (line < wish.first - NEAR || line > wish.last + NEAR) lines.delete(line);
  };
  const loadMissing = async () => {
    for (let missing = firstMissing(), before = BEFORE; missing !== undefined; ) {
      const page = await load(Math.max(1, missing - before));
      put(page);
      onLines();
      const next = firstMissing();
      // A page of long lines may end before the missing one; then the next begins with it.
      if (next === missing && before === 0) return;
      before = next === missing ? 0 : BEFORE;
      missing = next;
    }
  };

  return {
    get: (line) => lines.get(line),
    put,
    async want(first, last) {
      wish = { first, last };
      if (busy) return;
      busy = true;
      await loadMissing().finally(() => {
        busy = false;
      });
    },
  };
}

/** Height of a line in pixels, as `.log .lines` of screens.css. */
export const LINE_HEIGHT = 18;
/** Firefox draws no element above 17.9 million pixels. Longer logs scroll by a share of their height. */
const MAX_HEIGHT = 15_000_000;
const OVERSCAN = 10;

/** What a scrolled view of `total` lines shows: lines `first` to `last` (from 0), drawn `offset` pixels below the top. */
interface LogWindow {
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

/** Words of lines that say why a program ended, the most telling first. */
const ERRORS = [
  /\w*(Error|Exception)\b(?!s)|out of memory|\bKilled\b|Segmentation fault/,
  /\b(fatal|panic|error|failed)\b/i,
];

/** The number of the last line that says why a program failed: an error, else its last line on stderr. */
export function errorLineOf(
  lines: readonly { line: number | null; source: string; text: string }[],
): number | undefined {
  for (const pattern of ERRORS) {
    const found = lines.findLast(({ line, text }) => line !== null && pattern.test(withoutControls(text)));
    if (found?.line) return found.line;
  }
  return lines.findLast(({ line, source }) => line !== null && source === 'stderr')?.line ?? undefined;
}
