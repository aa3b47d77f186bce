import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/parts.css';
import './styles/screens.css';
import './styles/batch.css';
import './styles/queue.css';
import './styles/step.css';
import { render } from 'preact';
import { startRouter } from './app/router.ts';
import { loadSession } from './app/session.ts';
import { applyTheme } from './app/theme.ts';
import { App } from './app.tsx';

applyTheme();
startRouter();
void loadSession();
render(<App />, document.querySelector('#app')!);
