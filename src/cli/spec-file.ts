import { readFile } from 'node:fs/promises';
import type { Document } from 'yaml';
import { CliError, EXIT } from './exit.ts';

/**
 * Reads a YAML or JSON file (`-`: standard input); JSON is valid YAML. A {@link CliError} names line and column of text that
 * is not YAML, and of a duplicate key.
 */
export async function readSpecFile(file: string): Promise<unknown> {
  const text = await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8')).catch(
    (error: NodeJS.ErrnoException) => {
      const why = UNREADABLE[error.code ?? ''] ?? error.message;
      throw new CliError(EXIT.usage, `Cannot read ${file}: ${why}.`);
    },
  );
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, {
    uniqueKeys: true,
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
  });
  const fault = document.errors[0];
  if (fault) {
    const { line, col } = lines.linePos(fault.pos[0]);
    throw new CliError(EXIT.usage, `${file}, line ${line}, column ${col}: ${fault.message}`);
  }
  const value = expanded(file, document);
  if (value === null) throw new CliError(EXIT.usage, `${file} is empty.`);
  return value;
}

function expanded(file: string, document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // A short file can hold billions of aliases of aliases. An alias may also lack its anchor.
    throw new CliError(EXIT.usage, `${file}: ${(error as Error).message}`);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
};

/**
 * Refuses the file of an experiment if a sweep is wanted, and the reverse. The API would only list a dozen unknown keys. Only
 * a sweep has `axes`.
 */
export function requireKind(file: string, spec: unknown, wanted: 'experiment' | 'sweep'): void {
  if (typeof spec !== 'object' || spec === null) return;
  if (wanted === 'experiment' && 'axes' in spec)
    throw new CliError(EXIT.usage, `${file} is a sweep. Run it with \`echelon sweeps submit ${file}\`.`);
  if (wanted === 'sweep' && 'engine' in spec && !('axes' in spec))
    throw new CliError(EXIT.usage, `${file} is one experiment. Run it with \`echelon submit ${file}\`.`);
}

async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}
