import type { ComponentChildren } from 'preact';
import { Command } from '../../parts/head.tsx';

interface StepProps {
  number: number;
  title: string;
  /** The same in a terminal. */
  command: string;
  actions?: ComponentChildren;
  children?: ComponentChildren;
}

/** A step on the way to a submission. */
export function Step({ number, title, command, actions, children }: StepProps) {
  return (
    <section class="card step-card" aria-label={title}>
      <div class="card-head">
        <span class="step-number" aria-hidden="true">
          {number}
        </span>
        <h2>{title}</h2>
        <Command text={command} />
        {actions && <span class="end">{actions}</span>}
      </div>
      <div class="card-body" aria-live="polite">
        {children}
      </div>
    </section>
  );
}
