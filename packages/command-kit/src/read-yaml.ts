import {
  type Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';

/** A YAML or JSON text: its value and the lines of its fields, or why it has none. */
export type YamlText =
  | {
      value: unknown;
      /** The line (from 1) of the field of a JSON pointer, or of its nearest parent that is there. */
      lineOf(pointer: string): number;
      /** Numbers that are not written as they are read, such as 1.10 and 017: a text is what may be meant. */
      rewritten: RewrittenNumber[];
    }
  | { fault: YamlFault };

/** Why a text has no value. */
export interface YamlFault {
  message: string;
  line?: number;
  column?: number;
}

/** A number with leading or trailing zeros, which its value lacks. */
export interface RewrittenNumber {
  line: number;
  written: string;
  value: number;
}

const OPTIONS = {
  uniqueKeys: true,
  prettyErrors: false,
  version: '1.2',
  // `<<` is no key of YAML 1.2, but every reader of YAML takes it for one that merges.
  merge: true,
  logLevel: 'error',
} as const;

/**
 * Reads a YAML 1.2 text; JSON is valid YAML. Keys `<<` are merged. A duplicate key, a second document, an unknown tag, and a
 * value that JSON cannot express are faults.
 */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines });
  const faultAt = (message: string, offset: number): { fault: YamlFault } => {
    const { line, col } = lines.linePos(offset);
    return { fault: { message, line, column: col } };
  };
  // A tag that is not known would change nothing, although it asks for something.
  const first = document.errors[0] ?? document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
  if (first !== undefined) return faultAt(FAULTS[first.code] ?? first.message, first.pos[0]);
  const key = collectionAsKey(document);
  if (key !== undefined) return faultAt('A key is a text, not a list or an object.', key.range?.[0] ?? 0);
  const offset = (pointer: string) => offsetOf(pointer, document.contents);
  try {
    // A short text can hold billions of aliases of aliases. An alias may also lack its anchor.
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    const other = notOfJson(value, '');
    if (other !== undefined) return faultAt(other.message, offset(other.pointer));
    const lineOf = (pointer: string) => lines.linePos(offset(pointer)).line;
    return { value, lineOf, rewritten: rewrittenNumbers(document, lines) };
  } catch (error) {
    return { fault: { message: (error as Error).message } };
  }
}

/** Faults in words for the user of a file; the others are in the words of the library. */
const FAULTS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS:
    'A second document begins here (---). A file holds one; write the other into a file of its own.',
};

function collectionAsKey(document: Document): Node | undefined {
  let found: Node | undefined;
  visit(document, {
    Pair(_key, { key }) {
      if (!isCollection(key)) return undefined;
      found = key;
      return visit.BREAK;
    },
  });
  return found;
}

/** The first value that JSON cannot express. */
function notOfJson(value: unknown, pointer: string): { pointer: string; message: string } | undefined {
  if (typeof value === 'number' && !Number.isFinite(value))
    return {
      pointer,
      message: `${Number.isNaN(value) ? 'NaN' : 'Infinity'} is no number of JSON; a value is finite.`,
    };
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype)
    return {
      pointer,
      message: 'A value with this tag has no form in JSON; write a text, a list or an object.',
    };
  for (const [key, inner] of Object.entries(value)) {
    const part = key.replaceAll('~', '~0').replaceAll('/', '~1');
    const found = notOfJson(inner, `${pointer}/${part}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Decimals with a zero at the end, but for one alone; whole numbers with a zero at the start. */
const WITH_ZEROS = /^[-+]?(?:0\d+|\d*\.\d+0)$/;

function rewrittenNumbers(document: Document, lines: LineCounter): RewrittenNumber[] {
  const found: RewrittenNumber[] = [];
  visit(document, {
    Scalar(_key, { value, source = '', range }) {
      if (typeof value === 'number' && WITH_ZEROS.test(source))
        found.push({ line: lines.linePos(range?.[0] ?? 0).line, written: source, value });
    },
  });
  return found;
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
