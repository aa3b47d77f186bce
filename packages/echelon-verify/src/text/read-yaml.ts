import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

/** A YAML or JSON text: its value and the lines of its fields, or why it has none. */
export type YamlText =
  | {
      value: unknown;
      /** The line (from 1) of the field of a JSON pointer, or of its nearest parent that is there. */
      lineOf(pointer: string): number;
    }
  | { fault: { message: string; line?: number; column?: number } };

/** Reads a YAML 1.2 text; JSON is valid YAML. A duplicate key is a fault. */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  const options = { uniqueKeys: true, lineCounter: lines, prettyErrors: false, version: '1.2' } as const;
  const document = parseDocument(text, options);
  const first = document.errors[0];
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.pos[0]);
    return { fault: { message: first.message, line, column: col } };
  }
  try {
    // A short text can hold billions of aliases of aliases. An alias may also lack its anchor.
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    return { value, lineOf: (pointer) => lines.linePos(offsetOf(pointer, document.contents)).line };
  } catch (error) {
    return { fault: { message: (error as Error).message } };
  }
}

function offsetOf(pointer: string, root: Node | null): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const child = childOf(node, name);
    if (child === undefined) break;
    offset = child.at?.range?.[0] ?? offset;
    node = child.value;
  }
  return offset;
}

/** The child of that name, and the node at whose place it is named. */
function childOf(node: unknown, name: string): { at: Node | null; value: unknown } | undefined {
  if (isSeq<Node>(node)) {
    const value = node.items[Number(name)];
    return value && { at: value, value };
  }
  if (!isMap<Node>(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
  return pair && { at: pair.key, value: pair.value };
}
