import type { ExperimentEvent } from './events.ts';

/** A line of an experiment's log; `gap`: it says what is missing there. */
export interface LogText {
  source: 'stdout' | 'stderr' | 'gap';
  text: string;
}

/** The lines that an event adds to the log: those of the driver, and one where some, or parts of some, were dropped. */
export function logTexts(event: ExperimentEvent): LogText[] {
  if (event.type === 'gap' && event.kind === 'logs') {
    const amount = [
      ...(event.count > 0 ? [`${event.count} lines`] : []),
      ...(event.bytes > 0 ? [`${event.bytes} bytes`] : []),
    ].join(', ');
    return [{ source: 'gap', text: `[${amount || 'lines'} dropped: ${event.reason}]` }];
  }
  if (event.type === 'gap' && event.kind === 'reports') {
    return [{ source: 'gap', text: `[${event.count > 0 ? `${event.count} ` : ''}dropped: ${event.reason}]` }];
  }
  if (event.type !== 'log') return [];
  const texts = event.lines.map((text): LogText => ({ source: event.source, text }));
  if (event.cutBytes > 0) {
    texts.push({ source: 'gap', text: `[${event.cutBytes} bytes of lines that are too long were cut here]` });
  }
  return texts;
}
