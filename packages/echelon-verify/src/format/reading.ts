/** Which file is being read, for the message if reading it ends the process. */

let last: string | undefined;
let listener: ((path: string) => void) | undefined;

/** Called before a file is opened. */
export function reading(path: string): void {
  last = path;
  listener?.(path);
}

/** The file that was opened last. */
export function lastRead(): string | undefined {
  return last;
}

/** `told` receives each file before it is opened. */
export function onReading(told: (path: string) => void): void {
  listener = told;
}
