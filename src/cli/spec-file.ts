import { readFile } from 'node:fs/promises';
import { CliError, EXIT } from 'echelon-verify/cli/exit';

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
  // The reader is loaded only if a command needs it.
  const { readYaml } = await import('echelon-verify/text/read-yaml');
  const read = readYaml(text);
  if ('fault' in read) {
    const { message, line, column } = read.fault;
    const where = line === undefined ? '' : `, line ${line}, column ${column}`;
    throw new CliError(EXIT.usage, `${file}${where}: ${message}`);
  }
  if (read.value === null) throw new CliError(EXIT.usage, `${file} is empty.`);
  return read.value;
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
