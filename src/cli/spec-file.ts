import { readFile } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import { CliError, EXIT } from './exit.ts';

/**
 * Reads a spec from a YAML or JSON file (`-`: standard input), JSON being YAML too. Refused with file, line and
 * column: text that is not YAML, and a key that stands twice.
 */
export async function readSpecFile(file: string): Promise<unknown> {
  const text = await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8')).catch(
    (error: Error) => {
      throw new CliError(EXIT.usage, `Cannot read ${file}: ${error.message}`);
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
  return document.toJS({ maxAliasCount: 100 });
}

async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}
