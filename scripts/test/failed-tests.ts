import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** Ends that follow from another test's: of what holds one that failed, and of what is held. */
const CONSEQUENCES: readonly unknown[] = ['subtestsFailed', 'cancelledByParent'];

/** A reporter for `node --test`: a line for each test that failed by itself, with its place. */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter from there
export default async function* failedTests(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.todo) continue;
    const { error } = data.details;
    if ('failureType' in error && CONSEQUENCES.includes(error.failureType)) continue;
    const place = data.file === undefined ? '' : `${relative('.', data.file)}:${data.line} `;
    yield `${place}${data.name}\n`;
  }
}
