import { COMPARISON_ID, type ComparisonFile } from 'echelon-client/comparison-file';
import { ComparisonReport } from './comparison.tsx';
import { mount } from './mount.tsx';
import { readJson } from './parts.ts';

mount(readJson<ComparisonFile>(COMPARISON_ID).then((file) => <ComparisonReport file={file} />));
