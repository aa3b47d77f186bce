/**
 * `ray-client-ts`: a client for Ray's own client protocol (`ray://host:10001`), which needs nothing installed on
 * the cluster. Begin with {@link connect}.
 */

export { ActorHandle } from './actor.ts';
export { DEFAULT_CLIENT_PORT, parseAddress } from './address.ts';
export type { NamedActor, RayNode, Resources } from './cluster.ts';
export type { RemoteClass, RemoteFunction } from './code.ts';
export { actorClass, functionRef, sourceActorClass, sourceFunction } from './code.ts';
export type { RayConnectOptions } from './connect.ts';
export { answersWithoutToken, connect } from './connect.ts';
export type { CloseReason, RayConnection } from './connection.ts';
export type { RayCredentials, TlsOptions } from './credentials.ts';
export { credentialsFromEnvironment } from './credentials.ts';
export type { PythonExceptionDetails, RayErrorCode } from './errors.ts';
export {
  RayActorDiedError,
  RayAuthenticationError,
  RayClosedError,
  RayError,
  RayGeneratorError,
  RayPickleError,
  RayPythonError,
  RayRequestError,
  RaySessionLostError,
  RaySessionRefusedError,
  RayTimeoutError,
  RayUnreachableError,
  RayVersionError,
} from './errors.ts';
export type { Bytes, Kv, KvOptions } from './kv.ts';
export type { CallLimits } from './limits.ts';
export type { RayLog } from './log-stream.ts';
export type { WaitOptions, WaitResult } from './many.ts';
export type {
  ActorOptions,
  MethodOptions,
  ResourceOptions,
  RetryExceptions,
  RuntimeEnv,
  TaskOptions,
} from './options.ts';
export { packageUri } from './packages.ts';
export { PyFloat, PyTuple } from './pickle/values.ts';
export { ObjectRef } from './references.ts';
export type {
  NodeAffinity,
  PlacementGroupAffinity,
  PlacementGroupOptions,
  PlacementStrategy,
  SchedulingStrategy,
} from './scheduling.ts';
export { PlacementGroup } from './scheduling.ts';
export type {
  AnyMethods,
  AnySignature,
  Args,
  Arguments,
  Call,
  CallOptions,
  Kwargs,
  ManyCall,
  MethodOf,
  NumReturns,
  Result,
  Results,
  Signature,
} from './signatures.ts';
export { TESTED_VERSIONS } from './version.ts';
