/** The bytes of an element of the file; undefined if it has none of this id. */
export async function bytesOf(id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const text = document.getElementById(id)?.textContent;
  if (!text) return undefined;
  const packed = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

/** The JSON of an element of the file. Fails if the file is incomplete. */
export async function readJson<T>(id: string): Promise<T> {
  const bytes = await bytesOf(id);
  if (bytes === undefined) throw new Error('The file is incomplete. Make it again.');
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}
