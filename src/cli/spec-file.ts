import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { decodeText } from 'command-kit/decode-text';
import { CliError, EXIT } from 'command-kit/exit';
import type { Output } from 'command-kit/output';

/**
 * Reads a YAML or JSON file (`-`: standard input); JSON is valid YAML. A {@link CliError} names line and column of text that
 * is not YAML, and of a duplicate key. `output` gets a remark on numbers whose zeros are lost.
 */
export async function readSpecFile(file: string, output?: Pick<Output, 'remark'>): Promise<unknown> {
  const bytes = await (file === '-' ? buffer(process.stdin) : readFile(file)).catch(
    (error: NodeJS.ErrnoException) => {
      const why = UNREADABLE[error.code ?? ''] ?? error.message;
      throw new CliError(EXIT.usage, `Cannot read ${file}: ${why}.`);
    },
  );
  // The reader is loaded only if a command needs it.
  const { readYaml } = await import('command-kit/read-yaml');
  const decoded = decodeText(bytes);
  if ('fault' in decoded) throw new CliError(EXIT.usage, `Cannot read ${file}: ${decoded.fault}`);
  const read = readYaml(decoded.text);
  if ('fault' in read) {
    const { message, line, column } = read.fault;
    const where = line === undefined ? '' : `, line ${line}, column ${column}`;
    throw new CliError(EXIT.usage, `${file}${where}: ${message}`);
  }
  if (read.value === null) throw new CliError(EXIT.usage, `${file} is empty.`);
  for (const { line, written, value } of read.rewritten.slice(0, MAX_REMARKS))
    output?.remark(
      `${file}, line ${line}: ${written} is the number ${value}. Write "${written}" if the program needs its zeros.`,
    );
  return read.value;
}

const MAX_REMARKS = 3;

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
