import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/frame.css';
import '../styles/parts.css';
import '../styles/screens.css';
import '../styles/batch.css';
import { render, type VNode } from 'preact';
import { startInFragment } from '../app/router.ts';
import { applyTheme } from '../app/theme.ts';
import { Failed } from '../parts/states.tsx';

/** Shows the page of one file, or why it cannot be shown. */
export function mount(page: Promise<VNode>): void {
  applyTheme();
  startInFragment();
  const root = document.querySelector('#app')!;
  page.then(
    (shown) => render(shown, root),
    (error: Error) => render(<Failed failure={{ kind: 'failed', message: error.message }} />, root),
  );
}
