import type { ComponentChildren } from 'preact';

interface CardProps {
  title: ComponentChildren;
  /** Beside the title. */
  note?: ComponentChildren;
  /** At the end of the head: links and buttons. */
  end?: ComponentChildren;
  /** Its name, if the title does not stand alone. */
  label?: string;
  class?: string;
  children?: ComponentChildren;
}

/** A part of a screen with a frame and a head. */
export function Card({ title, note, end, label, class: own = '', children }: CardProps) {
  return (
    <section class={`card ${own}`} aria-label={label}>
      <div class="card-head">
        {typeof title === 'string' ? <h2>{title}</h2> : title}
        {note && <span class="muted">{note}</span>}
        {end && <span class="end">{end}</span>}
      </div>
      {children}
    </section>
  );
}
