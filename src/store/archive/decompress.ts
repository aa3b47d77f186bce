import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';

/** Memory of a Buffer object beside its bytes (Node 24, heap snapshot). */
export const BUFFER_BYTES = 104;

const decompress = promisify(zstdDecompress);

/** The decompressed bytes in memory of their own: zlib gives a piece of a larger chunk, which a cached piece would retain. */
export async function decompressed(bytes: Uint8Array, maxOutputLength: number): Promise<Buffer> {
  const found = await decompress(bytes, { maxOutputLength });
  const own = Buffer.allocUnsafeSlow(found.length);
  found.copy(own);
  return own;
}
