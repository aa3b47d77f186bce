import 'echelon-verify/browser/node/buffer';
import { HEAD_ID, type ReportHead } from 'echelon-verify/html';
import { mount } from './mount.tsx';
import { readJson } from './parts.ts';
import { Report } from './report.tsx';

mount(readJson<ReportHead>(HEAD_ID).then((head) => <Report head={head} />));
