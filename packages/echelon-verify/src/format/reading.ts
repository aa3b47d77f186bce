/** Which file is being read, for the message if reading it ends the process, and that work goes forward. */

let last: string | undefined;
let listener: ((path: string | undefined) => void) | undefined;

/** Called before a file is opened. */
export function reading(path: string): void {
  last = path;
  listener?.(path);
}

/** Called after a part of the work whose time depends on the content of files. */
export function progressed(): void {
  listener?.(undefined);
}

/** The file that was opened last. */
export function lastRead(): string | undefined {
  return last;
}

/** `told` receives each file before it is opened, and undefined after a part of the work. */
export function onReading(told: (path: string | undefined) => void): void {
  listener = told;
}
