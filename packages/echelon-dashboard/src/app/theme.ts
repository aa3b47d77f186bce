import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'echelon-theme';
const stored = storedTheme();

/** The chosen theme; `system` follows the browser's. */
export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system');

/** Raised when the colours change, for charts that draw them themselves. */
export const paint = signal(0);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  paint.value += 1;
});

/** A page without storage, as in a sandbox, has none. */
function storedTheme(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset.theme;
  else dataset.theme = theme.value;
  paint.value += 1;
}

export function chooseTheme(to: Theme): void {
  theme.value = to;
  if (to === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, to);
  applyTheme();
}

let probe: HTMLElement | undefined;

/** The present value of a colour of tokens.css as `rgb(…)`, for a canvas. */
export function colour(name: string): string {
  probe ??= document.body.appendChild(document.createElement('i'));
  probe.hidden = true;
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

/** The present value of a colour as red, green and blue from 0 to 255. */
export function channels(name: string): [number, number, number] {
  const [r = 0, g = 0, b = 0] = (colour(name).match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}
