/** The examples at the end of a help text. */
export function examples(...commands: readonly string[]): string {
  const title = commands.length === 1 ? 'Example' : 'Examples';
  return `\n${title}:\n${commands.map((command) => `  ${command}`).join('\n')}`;
}
