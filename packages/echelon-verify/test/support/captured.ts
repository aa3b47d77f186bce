/** Streams that keep what is written to them, colours taken out. */
export interface Captured {
  readonly io: { stdout: { write(text: string): void }; stderr: { write(text: string): void } };
  out(): string;
  err(): string;
}

/** Captured streams, empty. */
export function captured(): Captured {
  let out = '';
  let err = '';
  const plain = (text: string): string =>
    text.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g'), '');
  return {
    io: {
      stdout: {
        write: (text) => {
          out += plain(text);
        },
      },
      stderr: {
        write: (text) => {
          err += plain(text);
        },
      },
    },
    out: () => out,
    err: () => err,
  };
}
