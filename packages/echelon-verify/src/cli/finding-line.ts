import { styleText } from 'node:util';
import { inert } from 'command-kit/inert';
import type { Finding } from '../report/report.ts';

/** A finding as an indented line. */
export function findingLine({ severity, code, message }: Finding): string {
  const label = severity === 'error' ? styleText('red', 'error  ') : styleText('yellow', 'warning');
  return `  ${label} ${code}: ${inert(message)}`;
}
