import type { Problem } from '../../models/spec-text.ts';
import { inert } from '../../models/words.ts';

/** Problems of a spec, each with a button that goes to its line. */
export function Problems({ problems, onShow }: { problems: Problem[]; onShow: (line: number) => void }) {
  return (
    <ul class="findings" aria-label="Problems">
      {problems.map(({ field, message, line }) => (
        <li key={`${field} ${message}`} class="error">
          {line !== undefined && (
            <button type="button" class="link" onClick={() => onShow(line)}>
              line {line}
            </button>
          )}{' '}
          {field && <span class="code">{inert(field)}</span>} {inert(message)}
        </li>
      ))}
    </ul>
  );
}
