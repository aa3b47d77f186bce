/** csv-parse/stream for browsers: reads the whole file before the first record. */
import { type Options, parse as parseAll } from 'csv-parse/browser/esm/sync';

/** Records of the bytes that are written to it. */
export function parse(options: Options): TransformStream<Uint8Array, unknown> {
  const text: string[] = [];
  const decoder = new TextDecoder();
  return new TransformStream({
    transform: (bytes) => void text.push(decoder.decode(bytes, { stream: true })),
    flush(controller) {
      text.push(decoder.decode());
      for (const record of parseAll(text.join(''), options)) controller.enqueue(record);
    },
  });
}
