import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import { type Problem, tokensOf } from '../../models/spec.ts';
import { Card } from '../../parts/card.tsx';

interface EditorProps {
  text: string;
  problems: Problem[];
  onInput: (text: string) => void;
  of: RefObject<HTMLTextAreaElement | null>;
}

/** The text of a spec with its line numbers; lines with a problem are marked. */
export function Editor({ text, problems, onInput, of }: EditorProps) {
  const gutter = useRef<HTMLDivElement>(null);
  const bad = new Set(problems.map(({ line }) => line));
  const paint = useRef<HTMLPreElement>(null);
  const follow = () => {
    gutter.current?.scrollTo(0, of.current?.scrollTop ?? 0);
    paint.current?.scrollTo(of.current?.scrollLeft ?? 0, of.current?.scrollTop ?? 0);
  };
  return (
    <Card
      label="Spec"
      title={
        <h2>
          <label for="spec">Spec, as YAML or JSON</label>
        </h2>
      }
      end={<a href="/docs">Fields</a>}
    >
      <div class="editor mono">
        <div class="gutter" ref={gutter} aria-hidden="true">
          {text.split('\n').map((_line, at) => (
            <span key={at} class={bad.has(at + 1) ? 'bad' : ''}>
              {at + 1}
            </span>
          ))}
        </div>
        <div class="area">
          <pre class="paint mono" ref={paint} aria-hidden="true">
            {text.split('\n').map((line, at) => (
              <div key={at}>
                {tokensOf(line).map(({ kind, text: part }, index) => (
                  <span key={index} class={kind}>
                    {part}
                  </span>
                ))}
                {'\n'}
              </div>
            ))}
          </pre>
          <textarea
            id="spec"
            ref={of}
            class="mono"
            wrap="off"
            spellcheck={false}
            autocapitalize="off"
            rows={26}
            value={text}
            aria-invalid={problems.length > 0}
            onScroll={follow}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        </div>
      </div>
    </Card>
  );
}
