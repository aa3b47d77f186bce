import { readFile } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import { CliError, EXIT } from './exit.ts';

/**
 * Reads a spec from a YAML or JSON file (`-`: standard input), JSON being YAML too. Refused with file, line and
 * column: text that is not YAML, and a key that stands twice.
 */
export async function readSpecFile(file: string): Promise<unknown> {
  const text = await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8')).catch(
    (error: NodeJS.ErrnoException) => {
      const why = UNREADABLE[error.code ?? ''] ?? error.message;
      throw new CliError(EXIT.usage, `Cannot read ${file}: ${why}`);
    },
  );
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

function expanded(file: string, document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // Aliases of aliases, of which a short file can hold billions; or an alias of nothing.
    throw new CliError(EXIT.usage, `${file}: ${(error as Error).message}`);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'you may not read it',
};

/**
 * Refuses what a person who has mixed up two commands hands over: a sweep has `axes`, an experiment has not, and the API
 * would name a dozen keys.
 */
export function requireKind(file: string, spec: unknown, wanted: 'experiment' | 'sweep'): void {
  if (typeof spec !== 'object' || spec === null) return;
  if (wanted === 'experiment' && 'axes' in spec)
    throw new CliError(EXIT.usage, `${file} is a sweep: \`echelon sweep submit ${file}\` runs it.`);
  if (wanted === 'sweep' && 'engine' in spec && !('axes' in spec))
    throw new CliError(EXIT.usage, `${file} is one experiment: \`echelon submit ${file}\` runs it.`);
}

async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}
