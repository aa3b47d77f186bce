/**
 * The parts of node:fs and node:fs/promises that the readers of dumps use, for browsers. The files are those that the user
 * chose, by their paths; nothing else can be read.
 */
export const constants = { O_RDONLY: 0, O_NONBLOCK: 0 };

const files = new Map<string, File>();

/** Replaces the files that can be read. */
export function setFiles(chosen: readonly { path: string; file: File }[]): void {
  files.clear();
  for (const { path, file } of chosen) files.set(path, file);
}

function fileAt(path: string): File {
  const file = files.get(path);
  if (file === undefined) throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
  return file;
}

/** Whether there is such a file. */
export const existsSync = (path: string): boolean => files.has(path);

/** Names in a folder. */
export function readdirSync(folder: string): string[] {
  const start = folder === '.' ? '' : `${folder}/`;
  const inside = [...files.keys()].filter((path) => path.startsWith(start));
  return [...new Set(inside.map((path) => path.slice(start.length).split('/')[0]!))];
}

/** The text of a file. */
export const readFile = async (path: string): Promise<string> => await fileAt(path).text();

/** A file that is read in parts. */
export async function open(path: string) {
  const file = fileAt(path);
  return {
    stat: async () => ({ size: file.size, isFile: () => true, isDirectory: () => false }),
    async read(into: Uint8Array, { position }: { position: number }) {
      const part = new Uint8Array(await file.slice(position, position + into.length).arrayBuffer());
      into.set(part);
      return { bytesRead: part.length };
    },
    close: async () => {},
  };
}
