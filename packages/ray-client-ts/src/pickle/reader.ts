import { RayPickleError } from '../errors.ts';
import { OP } from './opcodes.ts';
import { PyDict, PyGlobal, PyObject, PyPersistentId, PyReadTuple } from './values.ts';

/** More instructions than this in one pickle are refused: an object each would exhaust the memory. */
const MAX_INSTRUCTIONS = 10_000_000;

/** More lists, dictionaries and sets than this are refused: an empty one takes a byte in the pickle and 200 in memory. */
const MAX_CONTAINERS = 1_000_000;

const HIGHEST_PROTOCOL = 5;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads one pickle (protocols 2 to 5) into inert data: null, booleans, numbers, bigint beyond 2^53, strings,
 * Uint8Array (views into `data`, not copies), arrays, Set, and the read classes of `values.ts`.
 * Nothing is executed; shared parts stay shared. Throws {@link RayPickleError} for anything malformed,
 * truncated or unknown, naming the opcode and its offset.
 */
export function readPickle(data: Uint8Array): unknown {
  const machine = new Machine(data);
  let containers = 0;
  for (let count = 0; count < MAX_INSTRUCTIONS; count++) {
    const opcode = machine.input.u8();
    if (opcode === OP.STOP) return machine.result();
    if (CONTAINERS.has(opcode) && ++containers > MAX_CONTAINERS)
      throw machine.error(`more than ${MAX_CONTAINERS} lists, dictionaries and sets`);
    const action = ACTIONS[opcode];
    if (action === undefined) {
      throw machine.error(`unknown opcode 0x${opcode.toString(16).padStart(2, '0')}`);
    }
    action(machine);
  }
  throw machine.error(`more than ${MAX_INSTRUCTIONS} instructions`);
}

/** The bytes, with bounds. */
class Input {
  offset = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  take(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  i32(): number {
    return this.#view.getInt32(this.#advance(4), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  /** Eight bytes; values beyond 2^53 exceed every input and fail as truncation. */
  u64(): number {
    return Number(this.#view.getBigUint64(this.#advance(8), true));
  }

  f64(): number {
    return this.#view.getFloat64(this.#advance(8), false);
  }

  line(): string {
    const end = this.#bytes.indexOf(0x0a, this.offset);
    if (end === -1) throw new RayPickleError(`the pickle ends in the middle of a name, at ${this.offset}`);
    const text = this.text(end - this.offset);
    this.offset = end + 1;
    return text;
  }

  text(length: number): string {
    try {
      return utf8.decode(this.take(length));
    } catch (error) {
      if (error instanceof RayPickleError) throw error;
      throw new RayPickleError(`a string at ${this.offset} is not UTF-8`);
    }
  }

  #advance(length: number): number {
    const start = this.offset;
    if (start + length > this.#bytes.length) {
      throw new RayPickleError(`the pickle is truncated: ${length} bytes wanted at ${start}`);
    }
    this.offset = start + length;
    return start;
  }
}

/** Stack, marks and memo of one reading. */
class Machine {
  readonly input: Input;
  readonly stack: unknown[] = [];
  readonly marks: number[] = [];
  readonly memo = new Map<number, unknown>();

  constructor(data: Uint8Array) {
    this.input = new Input(data);
  }

  error(message: string): RayPickleError {
    return new RayPickleError(`${message}, at ${this.input.offset} of the pickle`);
  }

  push(value: unknown): void {
    this.stack.push(value);
  }

  pop(): unknown {
    if (this.stack.length <= (this.marks.at(-1) ?? 0)) throw this.error('the stack is empty');
    return this.stack.pop();
  }

  top(): unknown {
    if (this.stack.length <= (this.marks.at(-1) ?? 0)) throw this.error('the stack is empty');
    return this.stack.at(-1);
  }

  mark(): void {
    this.marks.push(this.stack.length);
  }

  /** Everything above the last mark. */
  popMark(): unknown[] {
    const start = this.marks.pop();
    if (start === undefined) throw this.error('no mark is set');
    return this.stack.splice(start);
  }

  recall(index: number): void {
    if (!this.memo.has(index)) throw this.error(`memo entry ${index} was never stored`);
    this.push(this.memo.get(index));
  }

  result(): unknown {
    if (this.stack.length !== 1 || this.marks.length !== 0) throw this.error('the pickle is not one value');
    return this.stack[0];
  }
}

type Action = (machine: Machine) => void;

const CONTAINERS: ReadonlySet<number> = new Set([
  OP.EMPTY_LIST,
  OP.LIST,
  OP.EMPTY_DICT,
  OP.DICT,
  OP.EMPTY_SET,
  OP.FROZENSET,
]);

const ACTIONS: Action[] = [];

ACTIONS[OP.PROTO] = ({ input }) => {
  const protocol = input.u8();
  if (protocol < 2 || protocol > HIGHEST_PROTOCOL) {
    throw new RayPickleError(`pickle protocol ${protocol} is not supported`);
  }
};
ACTIONS[OP.FRAME] = ({ input }) => void input.u64();

// Scalars.
ACTIONS[OP.NONE] = (m) => m.push(null);
ACTIONS[OP.NEWTRUE] = (m) => m.push(true);
ACTIONS[OP.NEWFALSE] = (m) => m.push(false);
ACTIONS[OP.BININT] = (m) => m.push(m.input.i32());
ACTIONS[OP.BININT1] = (m) => m.push(m.input.u8());
ACTIONS[OP.BININT2] = (m) => m.push(m.input.u16());
ACTIONS[OP.LONG1] = (m) => m.push(littleEndianInteger(m.input.take(m.input.u8())));
ACTIONS[OP.LONG4] = (m) => m.push(littleEndianInteger(m.input.take(m.input.u32())));
ACTIONS[OP.BINFLOAT] = (m) => m.push(m.input.f64());
ACTIONS[OP.SHORT_BINUNICODE] = (m) => m.push(m.input.text(m.input.u8()));
ACTIONS[OP.BINUNICODE] = (m) => m.push(m.input.text(m.input.u32()));
ACTIONS[OP.BINUNICODE8] = (m) => m.push(m.input.text(m.input.u64()));
ACTIONS[OP.SHORT_BINBYTES] = (m) => m.push(m.input.take(m.input.u8()));
ACTIONS[OP.BINBYTES] = (m) => m.push(m.input.take(m.input.u32()));
ACTIONS[OP.BINBYTES8] = (m) => m.push(m.input.take(m.input.u64()));
ACTIONS[OP.BYTEARRAY8] = (m) => m.push(m.input.take(m.input.u64()));

// Stack and memo.
ACTIONS[OP.MARK] = (m) => m.mark();
ACTIONS[OP.POP] = (m) => {
  if (m.marks.at(-1) === m.stack.length) m.marks.pop();
  else m.pop();
};
ACTIONS[OP.POP_MARK] = (m) => void m.popMark();
ACTIONS[OP.DUP] = (m) => m.push(m.top());
ACTIONS[OP.MEMOIZE] = (m) => void m.memo.set(m.memo.size, m.top());
ACTIONS[OP.BINPUT] = (m) => void m.memo.set(m.input.u8(), m.top());
ACTIONS[OP.LONG_BINPUT] = (m) => void m.memo.set(m.input.u32(), m.top());
ACTIONS[OP.BINGET] = (m) => m.recall(m.input.u8());
ACTIONS[OP.LONG_BINGET] = (m) => m.recall(m.input.u32());

// Containers.
ACTIONS[OP.EMPTY_LIST] = (m) => m.push([]);
ACTIONS[OP.LIST] = (m) => m.push(m.popMark());
ACTIONS[OP.APPEND] = (m) => append(m, [m.pop()]);
ACTIONS[OP.APPENDS] = (m) => append(m, m.popMark());
ACTIONS[OP.EMPTY_DICT] = (m) => m.push(new PyDict());
ACTIONS[OP.DICT] = (m) => {
  const flat = m.popMark();
  m.push(new PyDict());
  setItems(m, flat);
};
ACTIONS[OP.SETITEM] = (m) => {
  const value = m.pop();
  setItems(m, [m.pop(), value]);
};
ACTIONS[OP.SETITEMS] = (m) => setItems(m, m.popMark());
ACTIONS[OP.EMPTY_SET] = (m) => m.push(new Set());
ACTIONS[OP.FROZENSET] = (m) => m.push(new Set(m.popMark()));
ACTIONS[OP.ADDITEMS] = (m) => {
  const items = m.popMark();
  const target = m.top();
  if (!(target instanceof Set)) throw m.error('items are added to something that is no set');
  for (const item of items) target.add(item);
};
ACTIONS[OP.EMPTY_TUPLE] = (m) => m.push(new PyReadTuple([]));
ACTIONS[OP.TUPLE] = (m) => m.push(new PyReadTuple(m.popMark()));
ACTIONS[OP.TUPLE1] = (m) => m.push(new PyReadTuple([m.pop()]));
ACTIONS[OP.TUPLE2] = (m) => {
  const second = m.pop();
  m.push(new PyReadTuple([m.pop(), second]));
};
ACTIONS[OP.TUPLE3] = (m) => {
  const third = m.pop();
  const second = m.pop();
  m.push(new PyReadTuple([m.pop(), second, third]));
};

// Names and calls: recorded, never performed.
ACTIONS[OP.GLOBAL] = (m) => {
  const module = m.input.line();
  m.push(new PyGlobal(module, m.input.line()));
};
ACTIONS[OP.STACK_GLOBAL] = (m) => {
  const qualname = m.pop();
  const module = m.pop();
  if (typeof module !== 'string' || typeof qualname !== 'string') throw m.error('a global without a name');
  m.push(new PyGlobal(module, qualname));
};
ACTIONS[OP.REDUCE] = call;
ACTIONS[OP.NEWOBJ] = call;
ACTIONS[OP.NEWOBJ_EX] = (m) => {
  m.pop();
  call(m);
};
ACTIONS[OP.BUILD] = (m) => {
  const state = m.pop();
  const target = m.top();
  if (!(target instanceof PyObject)) throw m.error('state is set on something that is no object');
  target.state = state;
};
ACTIONS[OP.BINPERSID] = (m) => m.push(new PyPersistentId(m.pop()));

function call(m: Machine): void {
  const args = m.pop();
  m.push(new PyObject(m.pop(), args));
}

function append(m: Machine, items: readonly unknown[]): void {
  const target = m.top();
  const list = target instanceof PyObject ? target.appended : target;
  if (!Array.isArray(list)) throw m.error('items are appended to something that is no list');
  for (const item of items) list.push(item);
}

function setItems(m: Machine, flat: readonly unknown[]): void {
  const target = m.top();
  if (flat.length % 2 !== 0) throw m.error('a key without a value');
  if (!(target instanceof PyDict || target instanceof PyObject))
    throw m.error('items are set on something that is no dictionary');
  const entries = target instanceof PyDict ? target.entries : target.items;
  for (let index = 0; index < flat.length; index += 2) entries.push([flat[index], flat[index + 1]]);
}

/** Two's complement, little-endian, any length; a bigint only if a number would not be exact. */
function littleEndianInteger(bytes: Uint8Array): number | bigint {
  if (bytes.length > 4096) throw new RayPickleError(`an integer of ${bytes.length} bytes is not supported`);
  if (bytes.length === 0) return 0;
  const hex = Buffer.from(bytes).reverse().toString('hex');
  const value = BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`));
  const asNumber = Number(value);
  return Number.isSafeInteger(asNumber) ? asNumber : value;
}
