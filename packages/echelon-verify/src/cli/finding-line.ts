import { styleText } from 'node:util';
import type { Finding } from '../report.ts';
import { inert } from '../text/inert.ts';

/** A finding as an indented line. */
export function findingLine({ severity, code, message }: Finding): string {
  const label = severity === 'error' ? styleText('red', 'error  ') : styleText('yellow', 'warning');
  return `  ${label} ${code}: ${inert(message)}`;
}
