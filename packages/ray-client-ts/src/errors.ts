/**
 * Every way in which a conversation with a Ray cluster can fail, one class each.
 * All of them derive from {@link RayError} and carry a `code` that is stable and fit for a switch.
 */

/** What went wrong, as a word that never changes. */
export type RayErrorCode =
  | 'unreachable'
  | 'unauthenticated'
  | 'version'
  | 'session-refused'
  | 'session-lost'
  | 'closed'
  | 'timeout'
  | 'python'
  | 'actor-died'
  | 'pickle'
  | 'generator'
  | 'request';

/** Root of all errors thrown by this client. */
export class RayError extends Error {
  readonly code: RayErrorCode;

  constructor(code: RayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Nothing that speaks Ray's client protocol answered at the address (refused, wrong port, TLS mismatch). */
export class RayUnreachableError extends RayError {
  constructor(message: string, options?: ErrorOptions) {
    super('unreachable', message, options);
  }
}

/** The cluster wants a token, or does not accept the one it was given. */
export class RayAuthenticationError extends RayError {
  constructor(message: string, options?: ErrorOptions) {
    super('unauthenticated', message, options);
  }
}

/** The cluster runs a Ray that this client does not speak to. */
export class RayVersionError extends RayError {
  readonly rayVersion: string;

  constructor(rayVersion: string, message: string) {
    super('version', message);
    this.rayVersion = rayVersion;
  }
}

/** The cluster answered but did not start a session (runtime environment, options, too many clients). */
export class RaySessionRefusedError extends RayError {
  constructor(message: string, options?: ErrorOptions) {
    super('session-refused', message, options);
  }
}

/**
 * The session is gone for good: its objects and its actors that are not detached no longer exist.
 * Detached actors live on; connect again and look them up by name.
 */
export class RaySessionLostError extends RayError {
  constructor(message: string, options?: ErrorOptions) {
    super('session-lost', message, options);
  }
}

/** The connection was closed on this side before the operation ended. */
export class RayClosedError extends RayError {
  constructor(message = 'the connection to Ray is closed') {
    super('closed', message);
  }
}

/** The operation took longer than its `timeoutMs`. What it started on the cluster may still be running. */
export class RayTimeoutError extends RayError {
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number) {
    super('timeout', `${what} took longer than ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}

/** Bytes that are no pickle, hold something this client does not read, or a value it does not write. */
export class RayPickleError extends RayError {
  constructor(message: string) {
    super('pickle', message);
  }
}

/**
 * A generator function or method was called for a stream of values, which Ray's client protocol does not carry.
 * The call may run on the cluster; its values are lost.
 */
export class RayGeneratorError extends RayError {
  constructor(what: string) {
    super(
      'generator',
      `${what}: Ray's client protocol carries no stream of values; return a list, or state in numReturns how many values the generator yields`,
    );
  }
}

/** A request was refused with a gRPC status that has no class of its own. */
export class RayRequestError extends RayError {
  /** gRPC status code. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super('request', message, options);
    this.status = status;
  }
}

/** What is known of a Python exception. */
export interface PythonExceptionDetails {
  /** Class of the exception without its module, such as `ValueError`. */
  readonly pythonType: string;
  /** Module of that class, such as `builtins`. */
  readonly pythonModule: string;
  /** Ray's wrapper of the exception (`RayTaskError`, `ActorDiedError`, …), or undefined if it has none. */
  readonly rayType?: string | undefined;
  /** Text of the exception. */
  readonly message: string;
  /** Traceback as Python prints it, without colour codes. Empty if absent. */
  readonly pythonTraceback: string;
  /** The function or method that raised, as Ray names it. */
  readonly functionName?: string | undefined;
}

/** An exception raised by Python code, or by Ray on its behalf. */
export class RayPythonError extends RayError {
  readonly pythonType: string;
  readonly pythonModule: string;
  readonly rayType: string | undefined;
  readonly pythonMessage: string;
  readonly pythonTraceback: string;
  readonly functionName: string | undefined;

  constructor(details: PythonExceptionDetails, code: 'python' | 'actor-died' = 'python') {
    super(code, details.message === '' ? details.pythonType : `${details.pythonType}: ${details.message}`);
    this.pythonType = details.pythonType;
    this.pythonModule = details.pythonModule;
    this.rayType = details.rayType;
    this.pythonMessage = details.message;
    this.pythonTraceback = details.pythonTraceback;
    this.functionName = details.functionName;
  }
}

/** The actor is dead, could not be constructed, or cannot be reached; the method may or may not have run. */
export class RayActorDiedError extends RayPythonError {
  constructor(details: PythonExceptionDetails) {
    super(details, 'actor-died');
  }
}
