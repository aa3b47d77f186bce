import { createInterface } from 'node:readline/promises';

/** Asks the user at the terminal. The answer is undefined if there is no terminal. */
export type Ask = (question: string) => Promise<string | undefined>;

/** Asks at the terminal of this process. */
export const askAtTerminal: Ask = async (question) =>
  process.stdin.isTTY ? answerTo(question, process.stdin, process.stderr) : undefined;

/** The line that the user types. Ctrl-C and Ctrl-D count as an empty answer. */
export async function answerTo(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true });
  const closed = Promise.withResolvers<string>();
  terminal.once('close', () => closed.resolve('\n'));
  const answer = await Promise.race([terminal.question(question).catch(() => '\n'), closed.promise]);
  terminal.close();
  // Ctrl-C and Ctrl-D do not end the line.
  if (answer === '\n') output.write(answer);
  return answer.trim();
}
