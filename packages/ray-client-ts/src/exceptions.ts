import { stripVTControlCharacters } from 'node:util';
import { RayActorDiedError, type RayError, RayPythonError } from './errors.ts';
import { elements } from './pickle/convert.ts';
import { readPickle } from './pickle/reader.ts';
import { PyDict, PyGlobal, PyObject } from './pickle/values.ts';

const ACTOR_ERRORS = new Set(['ActorDiedError', 'ActorUnavailableError', 'RayActorError']);
const BUILTIN_EXCEPTION =
  /^(?:.*(?:Error|Exception|Warning|ExceptionGroup)|KeyboardInterrupt|SystemExit|GeneratorExit|Stop(?:Async)?Iteration)$/;
/** Where Ray's exceptions keep their text, in order of preference. */
const MESSAGE_KEYS = ['error_msg', 'error_message', 'message', '_original_stack_trace', '_msg'];

/** What Python prints between two exceptions, the second of which was raised from the first, or while it was handled. */
const CHAIN =
  /\n\n(?:The above exception was the direct cause of the following exception|During handling of the above exception, another exception occurred):\n\n/;
const MAX_CAUSES = 20;

interface ClassName {
  readonly module: string;
  readonly qualname: string;
}

/**
 * Whether a value read from a result is a failure: an instance of one of Ray's or Python's exceptions.
 * A method that returns an exception looks the same as one that raises it.
 */
export function isException(node: unknown): node is PyObject {
  if (!(node instanceof PyObject)) return false;
  const { module, qualname } = classOf(node);
  return (
    module === 'ray.exceptions' ||
    qualname.startsWith('RayTaskError(') ||
    (module === 'builtins' && BUILTIN_EXCEPTION.test(qualname))
  );
}

/** The typed error for a pickled exception, whatever its class; text that is no pickle is kept as it is. */
export function errorFromPickle(pickle: Uint8Array, context: string): RayError {
  try {
    const node = readPickle(pickle);
    if (node instanceof PyObject) return errorFromException(node);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return python({ module: '?', qualname: 'UnreadableException' }, `${context} failed: ${reason}`);
  }
  return python({ module: '?', qualname: 'UnreadableException' }, `${context} failed`);
}

/** The typed error for an exception read from a pickle. */
export function errorFromException(node: PyObject): RayPythonError {
  const own = classOf(node);
  if (own.qualname === 'RayTaskError') return taskError(node);
  const inner = elements(node.args)[0];
  if (own.qualname.startsWith('RayTaskError(') && inner instanceof PyObject) {
    const { module, qualname } = classOf(inner);
    return python({ module, qualname }, clean(messageOf(inner)), 'RayTaskError');
  }
  if (own.module === 'ray.exceptions' && ACTOR_ERRORS.has(own.qualname)) return actorError(node, own);
  return python(own, clean(messageOf(node)), own.module === 'ray.exceptions' ? own.qualname : undefined);
}

/** RayTaskError(function, traceback, cause, …): the cause says what was raised, the traceback where. */
function taskError(node: PyObject): RayPythonError {
  const [functionName, traceback, cause] = elements(node.args);
  const text = clean(typeof traceback === 'string' ? traceback : '');
  const last = lastLine(text);
  let raised: ClassName = { module: '?', qualname: last.type };
  let message = last.message;
  if (cause instanceof PyObject) {
    const root = rootCause(cause);
    const named = classOf(root);
    if (named.qualname !== '?') raised = named;
    // The traceback has the text as the class prints it; only its first line is sure to be whole.
    const fromArgs = clean(messageOf(root));
    if (fromArgs.includes('\n') || message === '') message = fromArgs;
  }
  const error = new RayPythonError({
    pythonType: raised.qualname,
    pythonModule: raised.module,
    rayType: 'RayTaskError',
    message,
    pythonTraceback: text,
    functionName: typeof functionName === 'string' ? functionName : undefined,
  });
  const chained = chainedCause(text);
  if (chained !== undefined) error.cause = chained;
  return error;
}

/**
 * The exception from which, or during which, the last one of a traceback was raised; with its own cause, if it has one.
 * Pickles do not keep `__cause__` and `__context__`: the text alone tells of them.
 */
function chainedCause(traceback: string): RayPythonError | undefined {
  let cause: RayPythonError | undefined;
  for (const text of traceback.split(CHAIN).slice(0, -1).slice(-MAX_CAUSES)) {
    const error = python(...raisedBy(text));
    if (cause !== undefined) error.cause = cause;
    cause = error;
  }
  return cause;
}

/** Class and message of a traceback without a chain, and the traceback: what follows the last frame says what was raised. */
function raisedBy(traceback: string): [ClassName, string, undefined, string] {
  const text = clean(traceback);
  const lines = text.split('\n');
  const lastFrame = lines.findLastIndex((line) => /^(?:\s|Traceback |ray::)/.test(line));
  const [first = '', ...more] = lines.slice(lastFrame + 1);
  const colon = first.indexOf(': ');
  const name = colon === -1 ? first : first.slice(0, colon);
  const dot = name.lastIndexOf('.');
  const qualname = name.slice(dot + 1) || '?';
  const builtin = BUILTIN_EXCEPTION.test(qualname) ? 'builtins' : '?';
  const own = { module: dot === -1 ? builtin : name.slice(0, dot), qualname };
  const message = [colon === -1 ? '' : first.slice(colon + 2), ...more].join('\n').trimEnd();
  return [own, message, undefined, text];
}

/** Follows RayTaskErrors that wrap one another (a task that failed in a task). */
function rootCause(node: PyObject): PyObject {
  let current = node;
  for (let depth = 0; depth < 20; depth++) {
    const name = classOf(current).qualname;
    const args = elements(current.args);
    // One that is both a RayTaskError and its cause, `RayTaskError(ValueError)`, holds its cause first.
    const both = name.startsWith('RayTaskError(') ? args[0] : undefined;
    const next = name === 'RayTaskError' ? args[2] : both;
    if (!(next instanceof PyObject)) return current;
    current = next;
  }
  return current;
}

function actorError(node: PyObject, own: ClassName): RayActorDiedError {
  const inner = elements(node.args)[0];
  const cause = inner instanceof PyObject ? errorFromException(inner) : undefined;
  const raised = cause === undefined ? '' : `its constructor raised ${cause.message}`;
  const message = clean(messageOf(node)) || raised;
  const error = new RayActorDiedError({
    pythonType: own.qualname,
    pythonModule: own.module,
    rayType: own.qualname,
    message,
    pythonTraceback: cause?.pythonTraceback ?? '',
    functionName: cause?.functionName,
  });
  if (cause !== undefined) error.cause = cause;
  return error;
}

function python(own: ClassName, message: string, rayType?: string, traceback = ''): RayPythonError {
  return new RayPythonError({
    pythonType: own.qualname,
    pythonModule: own.module,
    rayType,
    message,
    pythonTraceback: traceback,
  });
}

/** The class of an instance, also if cloudpickle carries the class itself (`_make_skeleton_class`). */
function classOf(node: PyObject): ClassName {
  const { callable } = node;
  if (callable instanceof PyGlobal) return { module: callable.module, qualname: callable.qualname };
  if (callable instanceof PyObject) {
    const [first, name] = elements(callable.args);
    if (typeof name === 'string') return { module: '__main__', qualname: name };
    // `_class_setstate(_make_skeleton_class(…), state)` and the like.
    if (first instanceof PyObject) return classOf(new PyObject(first, undefined));
  }
  return { module: '?', qualname: '?' };
}

function messageOf(node: PyObject): string {
  if (node.state instanceof PyDict) {
    for (const key of MESSAGE_KEYS) {
      const value = node.state.get(key);
      if (typeof value === 'string' && value !== '') return value;
    }
  }
  const args = elements(node.args);
  const first = args.find((value) => typeof value === 'string');
  if (typeof first === 'string')
    return args.length === 1 ? first : args.map(printable).filter(Boolean).join(', ');
  return args.map(printable).filter(Boolean).join(', ');
}

function printable(value: unknown): string {
  if (value instanceof PyObject) return classOf(value).qualname;
  if (value === null) return 'None';
  return typeof value === 'object' ? '' : String(value);
}

function lastLine(traceback: string): { type: string; message: string } {
  const line = traceback.trimEnd().split('\n').at(-1) ?? '';
  const colon = line.indexOf(': ');
  const type = colon === -1 ? line : line.slice(0, colon);
  const message = colon === -1 ? '' : line.slice(colon + 2);
  return { type: type.slice(type.lastIndexOf('.') + 1), message };
}

function clean(text: string): string {
  return stripVTControlCharacters(text).trimEnd();
}
