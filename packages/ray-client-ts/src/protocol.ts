/** The rpcs of Ray's client protocol, typed, over the generated encoders of `gen/`. */
import type { MethodDefinition } from '@grpc/grpc-js';
import { ray } from './gen/ray-client.js';

type Codec<Wire, Read> = {
  encode(message: Wire): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Read;
};

const { rpc } = ray;

/** A request on the data path, to be written. */
export type DataRequest = ray.rpc.DataRequest.$Properties;
/** A reply on the data path, as read. */
export type DataResponse = ray.rpc.DataResponse.$Properties;
/** A task on the wire. */
export type ClientTask = ray.rpc.ClientTask.$Properties;
/** The answer to a task. */
export type TaskTicket = ray.rpc.ClientTaskTicket.$Properties;
/** The answer to a get, or a chunk of it. */
export type GetResponse = ray.rpc.GetResponse.$Properties;
/** What to end. */
export type TerminateRequest = ray.rpc.TerminateRequest.$Properties;
/** The answer about the cluster. */
export type ClusterInfoResponse = ray.rpc.ClusterInfoResponse.$Properties;
/** One message of the log stream. */
export type LogData = ray.rpc.LogData.$Properties;

/** Kinds of tasks. */
export const TaskType = rpc.ClientTask.RemoteExecType;
/** Kinds of questions about the cluster. */
export const ClusterInfoKind = rpc.ClusterInfoType.TypeEnum;

interface Shape {
  readonly service: 'RayletDriver' | 'RayletDataStreamer' | 'RayletLogStreamer';
  readonly name: string;
  /** Which sides stream; none unless told. */
  readonly streams?: 'both' | 'answer';
}

function toBuffer(writer: { finish(): Uint8Array }): Buffer {
  const { buffer, byteOffset, byteLength } = writer.finish();
  return Buffer.from(buffer, byteOffset, byteLength);
}

function method<Request, RequestRead extends Request, Response, ResponseRead extends Response>(
  { service, name, streams }: Shape,
  request: Codec<Request, RequestRead>,
  response: Codec<Response, ResponseRead>,
): MethodDefinition<Request, Response> {
  return {
    path: `/ray.rpc.${service}/${name}`,
    requestStream: streams === 'both',
    responseStream: streams !== undefined,
    requestSerialize: (value) => toBuffer(request.encode(value)),
    requestDeserialize: (bytes) => request.decode(bytes),
    responseSerialize: (value) => toBuffer(response.encode(value)),
    responseDeserialize: (bytes) => response.decode(bytes),
  };
}

const driver = (name: string): Shape => ({ service: 'RayletDriver', name });

/** The unary calls. */
export const UNARY = {
  clusterInfo: method(driver('ClusterInfo'), rpc.ClusterInfoRequest, rpc.ClusterInfoResponse),
  waitObject: method(driver('WaitObject'), rpc.WaitRequest, rpc.WaitResponse),
  terminate: method(driver('Terminate'), rpc.TerminateRequest, rpc.TerminateResponse),
  kvGet: method(driver('KVGet'), rpc.KVGetRequest, rpc.KVGetResponse),
  kvPut: method(driver('KVPut'), rpc.KVPutRequest, rpc.KVPutResponse),
  kvDel: method(driver('KVDel'), rpc.KVDelRequest, rpc.KVDelResponse),
  kvList: method(driver('KVList'), rpc.KVListRequest, rpc.KVListResponse),
  kvExists: method(driver('KVExists'), rpc.KVExistsRequest, rpc.KVExistsResponse),
  pinRuntimeEnv: method(
    driver('PinRuntimeEnvURI'),
    rpc.ClientPinRuntimeEnvURIRequest,
    rpc.ClientPinRuntimeEnvURIResponse,
  ),
} as const;

/** Many objects in one go: a list, in chunks. */
export const GET_OBJECT = method(
  { ...driver('GetObject'), streams: 'answer' },
  rpc.GetRequest,
  rpc.GetResponse,
);

/** The stream that carries the session. */
export const DATAPATH = method(
  { service: 'RayletDataStreamer', name: 'Datapath', streams: 'both' },
  rpc.DataRequest,
  rpc.DataResponse,
);

/** The stream that carries log lines. */
export const LOGSTREAM = method(
  { service: 'RayletLogStreamer', name: 'Logstream', streams: 'both' },
  rpc.LogSettingsRequest,
  rpc.LogData,
);
