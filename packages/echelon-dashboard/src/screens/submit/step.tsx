import type { ComponentChildren } from 'preact';
import { Card } from '../../parts/card.tsx';
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
    <Card
      class="step-card"
      label={title}
      title={
        <>
          <span class="step-number" aria-hidden="true">
            {number}
          </span>
          <h2>{title}</h2>
          <Command text={command} />
        </>
      }
      end={actions}
    >
      <div class="card-body" aria-live="polite">
        {children}
      </div>
    </Card>
  );
}
