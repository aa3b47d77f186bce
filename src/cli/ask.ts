import { createInterface } from 'node:readline/promises';

/** Asks the person at the terminal; undefined: there is none. */
export type Ask = (question: string) => Promise<string | undefined>;

/** Asks at the terminal of this process. */
export const askAtTerminal: Ask = async (question) =>
  process.stdin.isTTY ? answerTo(question, process.stdin, process.stderr) : undefined;

/** What is typed; Ctrl-C and Ctrl-D are an empty answer. */
export async function answerTo(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true });
  const left = Promise.withResolvers<string>();
  terminal.once('close', () => left.resolve('\n'));
  const answer = await Promise.race([terminal.question(question).catch(() => '\n'), left.promise]);
  terminal.close();
  // Ctrl-C and Ctrl-D do not end the line.
  if (answer === '\n') output.write(answer);
  return answer.trim();
}
