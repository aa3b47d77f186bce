import 'echelon-verify/browser/node/buffer';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/frame.css';
import '../styles/parts.css';
import '../styles/screens.css';
import '../styles/batch.css';
import { render } from 'preact';
import { startInFragment } from '../app/router.ts';
import { applyTheme } from '../app/theme.ts';
import { Failed } from '../parts/states.tsx';
import { ComparisonReport } from './comparison.tsx';
import { readFile } from './contents.ts';
import { Report } from './report.tsx';

applyTheme();
startInFragment();
const root = document.querySelector('#app')!;
readFile().then(
  (file) =>
    render('head' in file ? <Report head={file.head} /> : <ComparisonReport file={file.comparison} />, root),
  (error: Error) => render(<Failed failure={{ kind: 'failed', message: error.message }} />, root),
);
