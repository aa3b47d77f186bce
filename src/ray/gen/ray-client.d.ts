import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace ray. */
export namespace ray {

    /** Namespace rpc. */
    namespace rpc {

        /**
         * Properties of a TaskOptions.
         * @deprecated Use ray.rpc.TaskOptions.$Properties instead.
         */
        interface ITaskOptions extends ray.rpc.TaskOptions.$Properties {
        }

        /** Represents a TaskOptions. */
        class TaskOptions {

            /**
             * Constructs a new TaskOptions.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.TaskOptions.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** TaskOptions pickled_options. */
            pickled_options: Uint8Array;

            /**
             * Encodes the specified TaskOptions message. Does not implicitly {@link ray.rpc.TaskOptions.verify|verify} messages.
             * @param message TaskOptions message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.TaskOptions.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a TaskOptions message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.TaskOptions & ray.rpc.TaskOptions.$Shape} TaskOptions
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.TaskOptions & ray.rpc.TaskOptions.$Shape;
        }

        namespace TaskOptions {

            /** Properties of a TaskOptions. */
            interface $Properties {

                /** TaskOptions pickled_options */
                pickled_options?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a TaskOptions. */
            type $Shape = ray.rpc.TaskOptions.$Properties;
        }

        /**
         * Properties of a ClientTask.
         * @deprecated Use ray.rpc.ClientTask.$Properties instead.
         */
        interface IClientTask extends ray.rpc.ClientTask.$Properties {
        }

        /** Represents a ClientTask. */
        class ClientTask {

            /**
             * Constructs a new ClientTask.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClientTask.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClientTask type. */
            type: ray.rpc.ClientTask.RemoteExecType;

            /** ClientTask name. */
            name: string;

            /** ClientTask payload_id. */
            payload_id: Uint8Array;

            /** ClientTask client_id. */
            client_id: string;

            /** ClientTask options. */
            options?: (ray.rpc.TaskOptions.$Properties|null);

            /** ClientTask baseline_options. */
            baseline_options?: (ray.rpc.TaskOptions.$Properties|null);

            /** ClientTask namespace. */
            namespace: string;

            /** ClientTask data. */
            data: Uint8Array;

            /** ClientTask chunk_id. */
            chunk_id: number;

            /** ClientTask total_chunks. */
            total_chunks: number;

            /**
             * Encodes the specified ClientTask message. Does not implicitly {@link ray.rpc.ClientTask.verify|verify} messages.
             * @param message ClientTask message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClientTask.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientTask message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClientTask & ray.rpc.ClientTask.$Shape} ClientTask
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClientTask & ray.rpc.ClientTask.$Shape;
        }

        namespace ClientTask {

            /** Properties of a ClientTask. */
            interface $Properties {

                /** ClientTask type */
                type?: (ray.rpc.ClientTask.RemoteExecType|null);

                /** ClientTask name */
                name?: (string|null);

                /** ClientTask payload_id */
                payload_id?: (Uint8Array|null);

                /** ClientTask client_id */
                client_id?: (string|null);

                /** ClientTask options */
                options?: (ray.rpc.TaskOptions.$Properties|null);

                /** ClientTask baseline_options */
                baseline_options?: (ray.rpc.TaskOptions.$Properties|null);

                /** ClientTask namespace */
                namespace?: (string|null);

                /** ClientTask data */
                data?: (Uint8Array|null);

                /** ClientTask chunk_id */
                chunk_id?: (number|null);

                /** ClientTask total_chunks */
                total_chunks?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientTask. */
            type $Shape = ray.rpc.ClientTask.$Properties;

            /** RemoteExecType enum. */
            enum RemoteExecType {

                /** FUNCTION value */
                FUNCTION = 0,

                /** ACTOR value */
                ACTOR = 1,

                /** METHOD value */
                METHOD = 2,

                /** STATIC_METHOD value */
                STATIC_METHOD = 3,

                /** NAMED_ACTOR value */
                NAMED_ACTOR = 4
            }
        }

        /**
         * Properties of a ClientTaskTicket.
         * @deprecated Use ray.rpc.ClientTaskTicket.$Properties instead.
         */
        interface IClientTaskTicket extends ray.rpc.ClientTaskTicket.$Properties {
        }

        /** Represents a ClientTaskTicket. */
        class ClientTaskTicket {

            /**
             * Constructs a new ClientTaskTicket.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClientTaskTicket.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClientTaskTicket valid. */
            valid: boolean;

            /** ClientTaskTicket return_ids. */
            return_ids: Uint8Array[];

            /** ClientTaskTicket error. */
            error: Uint8Array;

            /**
             * Encodes the specified ClientTaskTicket message. Does not implicitly {@link ray.rpc.ClientTaskTicket.verify|verify} messages.
             * @param message ClientTaskTicket message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClientTaskTicket.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientTaskTicket message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClientTaskTicket & ray.rpc.ClientTaskTicket.$Shape} ClientTaskTicket
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClientTaskTicket & ray.rpc.ClientTaskTicket.$Shape;
        }

        namespace ClientTaskTicket {

            /** Properties of a ClientTaskTicket. */
            interface $Properties {

                /** ClientTaskTicket valid */
                valid?: (boolean|null);

                /** ClientTaskTicket return_ids */
                return_ids?: (Uint8Array[]|null);

                /** ClientTaskTicket error */
                error?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientTaskTicket. */
            type $Shape = ray.rpc.ClientTaskTicket.$Properties;
        }

        /**
         * Properties of a PutRequest.
         * @deprecated Use ray.rpc.PutRequest.$Properties instead.
         */
        interface IPutRequest extends ray.rpc.PutRequest.$Properties {
        }

        /** Represents a PutRequest. */
        class PutRequest {

            /**
             * Constructs a new PutRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.PutRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** PutRequest data. */
            data: Uint8Array;

            /** PutRequest client_ref_id. */
            client_ref_id: Uint8Array;

            /** PutRequest chunk_id. */
            chunk_id: number;

            /** PutRequest total_chunks. */
            total_chunks: number;

            /** PutRequest total_size. */
            total_size: number;

            /**
             * Encodes the specified PutRequest message. Does not implicitly {@link ray.rpc.PutRequest.verify|verify} messages.
             * @param message PutRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.PutRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a PutRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.PutRequest & ray.rpc.PutRequest.$Shape} PutRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.PutRequest & ray.rpc.PutRequest.$Shape;
        }

        namespace PutRequest {

            /** Properties of a PutRequest. */
            interface $Properties {

                /** PutRequest data */
                data?: (Uint8Array|null);

                /** PutRequest client_ref_id */
                client_ref_id?: (Uint8Array|null);

                /** PutRequest chunk_id */
                chunk_id?: (number|null);

                /** PutRequest total_chunks */
                total_chunks?: (number|null);

                /** PutRequest total_size */
                total_size?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a PutRequest. */
            type $Shape = ray.rpc.PutRequest.$Properties;
        }

        /**
         * Properties of a PutResponse.
         * @deprecated Use ray.rpc.PutResponse.$Properties instead.
         */
        interface IPutResponse extends ray.rpc.PutResponse.$Properties {
        }

        /** Represents a PutResponse. */
        class PutResponse {

            /**
             * Constructs a new PutResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.PutResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** PutResponse id. */
            id: Uint8Array;

            /** PutResponse valid. */
            valid: boolean;

            /** PutResponse error. */
            error: Uint8Array;

            /**
             * Encodes the specified PutResponse message. Does not implicitly {@link ray.rpc.PutResponse.verify|verify} messages.
             * @param message PutResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.PutResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a PutResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.PutResponse & ray.rpc.PutResponse.$Shape} PutResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.PutResponse & ray.rpc.PutResponse.$Shape;
        }

        namespace PutResponse {

            /** Properties of a PutResponse. */
            interface $Properties {

                /** PutResponse id */
                id?: (Uint8Array|null);

                /** PutResponse valid */
                valid?: (boolean|null);

                /** PutResponse error */
                error?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a PutResponse. */
            type $Shape = ray.rpc.PutResponse.$Properties;
        }

        /**
         * Properties of a GetRequest.
         * @deprecated Use ray.rpc.GetRequest.$Properties instead.
         */
        interface IGetRequest extends ray.rpc.GetRequest.$Properties {
        }

        /** Represents a GetRequest. */
        class GetRequest {

            /**
             * Constructs a new GetRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.GetRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** GetRequest timeout. */
            timeout: number;

            /** GetRequest asynchronous. */
            asynchronous: boolean;

            /** GetRequest ids. */
            ids: Uint8Array[];

            /** GetRequest start_chunk_id. */
            start_chunk_id: number;

            /**
             * Encodes the specified GetRequest message. Does not implicitly {@link ray.rpc.GetRequest.verify|verify} messages.
             * @param message GetRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.GetRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a GetRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.GetRequest & ray.rpc.GetRequest.$Shape} GetRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.GetRequest & ray.rpc.GetRequest.$Shape;
        }

        namespace GetRequest {

            /** Properties of a GetRequest. */
            interface $Properties {

                /** GetRequest timeout */
                timeout?: (number|null);

                /** GetRequest asynchronous */
                asynchronous?: (boolean|null);

                /** GetRequest ids */
                ids?: (Uint8Array[]|null);

                /** GetRequest start_chunk_id */
                start_chunk_id?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a GetRequest. */
            type $Shape = ray.rpc.GetRequest.$Properties;
        }

        /**
         * Properties of a GetResponse.
         * @deprecated Use ray.rpc.GetResponse.$Properties instead.
         */
        interface IGetResponse extends ray.rpc.GetResponse.$Properties {
        }

        /** Represents a GetResponse. */
        class GetResponse {

            /**
             * Constructs a new GetResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.GetResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** GetResponse valid. */
            valid: boolean;

            /** GetResponse data. */
            data: Uint8Array;

            /** GetResponse error. */
            error: Uint8Array;

            /** GetResponse chunk_id. */
            chunk_id: number;

            /** GetResponse total_chunks. */
            total_chunks: number;

            /** GetResponse total_size. */
            total_size: number;

            /**
             * Encodes the specified GetResponse message. Does not implicitly {@link ray.rpc.GetResponse.verify|verify} messages.
             * @param message GetResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.GetResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a GetResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.GetResponse & ray.rpc.GetResponse.$Shape} GetResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.GetResponse & ray.rpc.GetResponse.$Shape;
        }

        namespace GetResponse {

            /** Properties of a GetResponse. */
            interface $Properties {

                /** GetResponse valid */
                valid?: (boolean|null);

                /** GetResponse data */
                data?: (Uint8Array|null);

                /** GetResponse error */
                error?: (Uint8Array|null);

                /** GetResponse chunk_id */
                chunk_id?: (number|null);

                /** GetResponse total_chunks */
                total_chunks?: (number|null);

                /** GetResponse total_size */
                total_size?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a GetResponse. */
            type $Shape = ray.rpc.GetResponse.$Properties;
        }

        /**
         * Properties of a WaitRequest.
         * @deprecated Use ray.rpc.WaitRequest.$Properties instead.
         */
        interface IWaitRequest extends ray.rpc.WaitRequest.$Properties {
        }

        /** Represents a WaitRequest. */
        class WaitRequest {

            /**
             * Constructs a new WaitRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.WaitRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** WaitRequest object_ids. */
            object_ids: Uint8Array[];

            /** WaitRequest num_returns. */
            num_returns: number;

            /** WaitRequest timeout. */
            timeout: number;

            /** WaitRequest client_id. */
            client_id: string;

            /**
             * Encodes the specified WaitRequest message. Does not implicitly {@link ray.rpc.WaitRequest.verify|verify} messages.
             * @param message WaitRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.WaitRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a WaitRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.WaitRequest & ray.rpc.WaitRequest.$Shape} WaitRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.WaitRequest & ray.rpc.WaitRequest.$Shape;
        }

        namespace WaitRequest {

            /** Properties of a WaitRequest. */
            interface $Properties {

                /** WaitRequest object_ids */
                object_ids?: (Uint8Array[]|null);

                /** WaitRequest num_returns */
                num_returns?: (number|null);

                /** WaitRequest timeout */
                timeout?: (number|null);

                /** WaitRequest client_id */
                client_id?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a WaitRequest. */
            type $Shape = ray.rpc.WaitRequest.$Properties;
        }

        /**
         * Properties of a WaitResponse.
         * @deprecated Use ray.rpc.WaitResponse.$Properties instead.
         */
        interface IWaitResponse extends ray.rpc.WaitResponse.$Properties {
        }

        /** Represents a WaitResponse. */
        class WaitResponse {

            /**
             * Constructs a new WaitResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.WaitResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** WaitResponse valid. */
            valid: boolean;

            /** WaitResponse ready_object_ids. */
            ready_object_ids: Uint8Array[];

            /** WaitResponse remaining_object_ids. */
            remaining_object_ids: Uint8Array[];

            /**
             * Encodes the specified WaitResponse message. Does not implicitly {@link ray.rpc.WaitResponse.verify|verify} messages.
             * @param message WaitResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.WaitResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a WaitResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.WaitResponse & ray.rpc.WaitResponse.$Shape} WaitResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.WaitResponse & ray.rpc.WaitResponse.$Shape;
        }

        namespace WaitResponse {

            /** Properties of a WaitResponse. */
            interface $Properties {

                /** WaitResponse valid */
                valid?: (boolean|null);

                /** WaitResponse ready_object_ids */
                ready_object_ids?: (Uint8Array[]|null);

                /** WaitResponse remaining_object_ids */
                remaining_object_ids?: (Uint8Array[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a WaitResponse. */
            type $Shape = ray.rpc.WaitResponse.$Properties;
        }

        /**
         * Properties of a ReleaseRequest.
         * @deprecated Use ray.rpc.ReleaseRequest.$Properties instead.
         */
        interface IReleaseRequest extends ray.rpc.ReleaseRequest.$Properties {
        }

        /** Represents a ReleaseRequest. */
        class ReleaseRequest {

            /**
             * Constructs a new ReleaseRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ReleaseRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ReleaseRequest ids. */
            ids: Uint8Array[];

            /**
             * Encodes the specified ReleaseRequest message. Does not implicitly {@link ray.rpc.ReleaseRequest.verify|verify} messages.
             * @param message ReleaseRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ReleaseRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ReleaseRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ReleaseRequest & ray.rpc.ReleaseRequest.$Shape} ReleaseRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ReleaseRequest & ray.rpc.ReleaseRequest.$Shape;
        }

        namespace ReleaseRequest {

            /** Properties of a ReleaseRequest. */
            interface $Properties {

                /** ReleaseRequest ids */
                ids?: (Uint8Array[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ReleaseRequest. */
            type $Shape = ray.rpc.ReleaseRequest.$Properties;
        }

        /**
         * Properties of a ReleaseResponse.
         * @deprecated Use ray.rpc.ReleaseResponse.$Properties instead.
         */
        interface IReleaseResponse extends ray.rpc.ReleaseResponse.$Properties {
        }

        /** Represents a ReleaseResponse. */
        class ReleaseResponse {

            /**
             * Constructs a new ReleaseResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ReleaseResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ReleaseResponse ok. */
            ok: boolean[];

            /**
             * Encodes the specified ReleaseResponse message. Does not implicitly {@link ray.rpc.ReleaseResponse.verify|verify} messages.
             * @param message ReleaseResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ReleaseResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ReleaseResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ReleaseResponse & ray.rpc.ReleaseResponse.$Shape} ReleaseResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ReleaseResponse & ray.rpc.ReleaseResponse.$Shape;
        }

        namespace ReleaseResponse {

            /** Properties of a ReleaseResponse. */
            interface $Properties {

                /** ReleaseResponse ok */
                ok?: (boolean[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ReleaseResponse. */
            type $Shape = ray.rpc.ReleaseResponse.$Properties;
        }

        /**
         * Properties of an InitRequest.
         * @deprecated Use ray.rpc.InitRequest.$Properties instead.
         */
        interface IInitRequest extends ray.rpc.InitRequest.$Properties {
        }

        /** Represents an InitRequest. */
        class InitRequest {

            /**
             * Constructs a new InitRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.InitRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** InitRequest job_config. */
            job_config: Uint8Array;

            /** InitRequest ray_init_kwargs. */
            ray_init_kwargs: string;

            /** InitRequest reconnect_grace_period. */
            reconnect_grace_period: number;

            /**
             * Encodes the specified InitRequest message. Does not implicitly {@link ray.rpc.InitRequest.verify|verify} messages.
             * @param message InitRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.InitRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an InitRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.InitRequest & ray.rpc.InitRequest.$Shape} InitRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.InitRequest & ray.rpc.InitRequest.$Shape;
        }

        namespace InitRequest {

            /** Properties of an InitRequest. */
            interface $Properties {

                /** InitRequest job_config */
                job_config?: (Uint8Array|null);

                /** InitRequest ray_init_kwargs */
                ray_init_kwargs?: (string|null);

                /** InitRequest reconnect_grace_period */
                reconnect_grace_period?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an InitRequest. */
            type $Shape = ray.rpc.InitRequest.$Properties;
        }

        /**
         * Properties of an InitResponse.
         * @deprecated Use ray.rpc.InitResponse.$Properties instead.
         */
        interface IInitResponse extends ray.rpc.InitResponse.$Properties {
        }

        /** Represents an InitResponse. */
        class InitResponse {

            /**
             * Constructs a new InitResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.InitResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** InitResponse ok. */
            ok: boolean;

            /** InitResponse msg. */
            msg: string;

            /**
             * Encodes the specified InitResponse message. Does not implicitly {@link ray.rpc.InitResponse.verify|verify} messages.
             * @param message InitResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.InitResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an InitResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.InitResponse & ray.rpc.InitResponse.$Shape} InitResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.InitResponse & ray.rpc.InitResponse.$Shape;
        }

        namespace InitResponse {

            /** Properties of an InitResponse. */
            interface $Properties {

                /** InitResponse ok */
                ok?: (boolean|null);

                /** InitResponse msg */
                msg?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an InitResponse. */
            type $Shape = ray.rpc.InitResponse.$Properties;
        }

        /**
         * Properties of a ConnectionInfoRequest.
         * @deprecated Use ray.rpc.ConnectionInfoRequest.$Properties instead.
         */
        interface IConnectionInfoRequest extends ray.rpc.ConnectionInfoRequest.$Properties {
        }

        /** Represents a ConnectionInfoRequest. */
        class ConnectionInfoRequest {

            /**
             * Constructs a new ConnectionInfoRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ConnectionInfoRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /**
             * Encodes the specified ConnectionInfoRequest message. Does not implicitly {@link ray.rpc.ConnectionInfoRequest.verify|verify} messages.
             * @param message ConnectionInfoRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ConnectionInfoRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ConnectionInfoRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ConnectionInfoRequest & ray.rpc.ConnectionInfoRequest.$Shape} ConnectionInfoRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ConnectionInfoRequest & ray.rpc.ConnectionInfoRequest.$Shape;
        }

        namespace ConnectionInfoRequest {

            /** Properties of a ConnectionInfoRequest. */
            interface $Properties {

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ConnectionInfoRequest. */
            type $Shape = ray.rpc.ConnectionInfoRequest.$Properties;
        }

        /**
         * Properties of a ConnectionInfoResponse.
         * @deprecated Use ray.rpc.ConnectionInfoResponse.$Properties instead.
         */
        interface IConnectionInfoResponse extends ray.rpc.ConnectionInfoResponse.$Properties {
        }

        /** Represents a ConnectionInfoResponse. */
        class ConnectionInfoResponse {

            /**
             * Constructs a new ConnectionInfoResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ConnectionInfoResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ConnectionInfoResponse num_clients. */
            num_clients: number;

            /** ConnectionInfoResponse ray_version. */
            ray_version: string;

            /** ConnectionInfoResponse ray_commit. */
            ray_commit: string;

            /** ConnectionInfoResponse python_version. */
            python_version: string;

            /**
             * Encodes the specified ConnectionInfoResponse message. Does not implicitly {@link ray.rpc.ConnectionInfoResponse.verify|verify} messages.
             * @param message ConnectionInfoResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ConnectionInfoResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ConnectionInfoResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ConnectionInfoResponse & ray.rpc.ConnectionInfoResponse.$Shape} ConnectionInfoResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ConnectionInfoResponse & ray.rpc.ConnectionInfoResponse.$Shape;
        }

        namespace ConnectionInfoResponse {

            /** Properties of a ConnectionInfoResponse. */
            interface $Properties {

                /** ConnectionInfoResponse num_clients */
                num_clients?: (number|null);

                /** ConnectionInfoResponse ray_version */
                ray_version?: (string|null);

                /** ConnectionInfoResponse ray_commit */
                ray_commit?: (string|null);

                /** ConnectionInfoResponse python_version */
                python_version?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ConnectionInfoResponse. */
            type $Shape = ray.rpc.ConnectionInfoResponse.$Properties;
        }

        /**
         * Properties of a ConnectionCleanupRequest.
         * @deprecated Use ray.rpc.ConnectionCleanupRequest.$Properties instead.
         */
        interface IConnectionCleanupRequest extends ray.rpc.ConnectionCleanupRequest.$Properties {
        }

        /** Represents a ConnectionCleanupRequest. */
        class ConnectionCleanupRequest {

            /**
             * Constructs a new ConnectionCleanupRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ConnectionCleanupRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /**
             * Encodes the specified ConnectionCleanupRequest message. Does not implicitly {@link ray.rpc.ConnectionCleanupRequest.verify|verify} messages.
             * @param message ConnectionCleanupRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ConnectionCleanupRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ConnectionCleanupRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ConnectionCleanupRequest & ray.rpc.ConnectionCleanupRequest.$Shape} ConnectionCleanupRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ConnectionCleanupRequest & ray.rpc.ConnectionCleanupRequest.$Shape;
        }

        namespace ConnectionCleanupRequest {

            /** Properties of a ConnectionCleanupRequest. */
            interface $Properties {

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ConnectionCleanupRequest. */
            type $Shape = ray.rpc.ConnectionCleanupRequest.$Properties;
        }

        /**
         * Properties of a ConnectionCleanupResponse.
         * @deprecated Use ray.rpc.ConnectionCleanupResponse.$Properties instead.
         */
        interface IConnectionCleanupResponse extends ray.rpc.ConnectionCleanupResponse.$Properties {
        }

        /** Represents a ConnectionCleanupResponse. */
        class ConnectionCleanupResponse {

            /**
             * Constructs a new ConnectionCleanupResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ConnectionCleanupResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /**
             * Encodes the specified ConnectionCleanupResponse message. Does not implicitly {@link ray.rpc.ConnectionCleanupResponse.verify|verify} messages.
             * @param message ConnectionCleanupResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ConnectionCleanupResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ConnectionCleanupResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ConnectionCleanupResponse & ray.rpc.ConnectionCleanupResponse.$Shape} ConnectionCleanupResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ConnectionCleanupResponse & ray.rpc.ConnectionCleanupResponse.$Shape;
        }

        namespace ConnectionCleanupResponse {

            /** Properties of a ConnectionCleanupResponse. */
            interface $Properties {

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ConnectionCleanupResponse. */
            type $Shape = ray.rpc.ConnectionCleanupResponse.$Properties;
        }

        /**
         * Properties of an AcknowledgeRequest.
         * @deprecated Use ray.rpc.AcknowledgeRequest.$Properties instead.
         */
        interface IAcknowledgeRequest extends ray.rpc.AcknowledgeRequest.$Properties {
        }

        /** Represents an AcknowledgeRequest. */
        class AcknowledgeRequest {

            /**
             * Constructs a new AcknowledgeRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.AcknowledgeRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** AcknowledgeRequest req_id. */
            req_id: number;

            /**
             * Encodes the specified AcknowledgeRequest message. Does not implicitly {@link ray.rpc.AcknowledgeRequest.verify|verify} messages.
             * @param message AcknowledgeRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.AcknowledgeRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes an AcknowledgeRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.AcknowledgeRequest & ray.rpc.AcknowledgeRequest.$Shape} AcknowledgeRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.AcknowledgeRequest & ray.rpc.AcknowledgeRequest.$Shape;
        }

        namespace AcknowledgeRequest {

            /** Properties of an AcknowledgeRequest. */
            interface $Properties {

                /** AcknowledgeRequest req_id */
                req_id?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of an AcknowledgeRequest. */
            type $Shape = ray.rpc.AcknowledgeRequest.$Properties;
        }

        /**
         * Properties of a TerminateRequest.
         * @deprecated Use ray.rpc.TerminateRequest.$Properties instead.
         */
        interface ITerminateRequest extends ray.rpc.TerminateRequest.$Properties {
        }

        /** Represents a TerminateRequest. */
        class TerminateRequest {

            /**
             * Constructs a new TerminateRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.TerminateRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** TerminateRequest client_id. */
            client_id: string;

            /** TerminateRequest actor. */
            actor?: (ray.rpc.TerminateRequest.ActorTerminate.$Properties|null);

            /** TerminateRequest task_object. */
            task_object?: (ray.rpc.TerminateRequest.TaskObjectTerminate.$Properties|null);

            /** TerminateRequest terminate_type. */
            terminate_type?: ("actor"|"task_object");

            /**
             * Encodes the specified TerminateRequest message. Does not implicitly {@link ray.rpc.TerminateRequest.verify|verify} messages.
             * @param message TerminateRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.TerminateRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a TerminateRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.TerminateRequest & ray.rpc.TerminateRequest.$Shape} TerminateRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.TerminateRequest & ray.rpc.TerminateRequest.$Shape;
        }

        namespace TerminateRequest {

            /** Properties of a TerminateRequest. */
            interface $Properties {

                /** TerminateRequest client_id */
                client_id?: (string|null);

                /** TerminateRequest actor */
                actor?: (ray.rpc.TerminateRequest.ActorTerminate.$Properties|null);

                /** TerminateRequest task_object */
                task_object?: (ray.rpc.TerminateRequest.TaskObjectTerminate.$Properties|null);

                /** TerminateRequest terminate_type */
                terminate_type?: ("actor"|"task_object");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a TerminateRequest. */
            type $Shape = {
              client_id?: string|null;
              actor?: ray.rpc.TerminateRequest.ActorTerminate.$Shape|null;
              task_object?: ray.rpc.TerminateRequest.TaskObjectTerminate.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ terminate_type?: undefined; actor?: null; task_object?: null }|{ terminate_type?: "actor"; actor: ray.rpc.TerminateRequest.ActorTerminate.$Shape; task_object?: null }|{ terminate_type?: "task_object"; actor?: null; task_object: ray.rpc.TerminateRequest.TaskObjectTerminate.$Shape })
            );

            /**
             * Properties of an ActorTerminate.
             * @deprecated Use ray.rpc.TerminateRequest.ActorTerminate.$Properties instead.
             */
            interface IActorTerminate extends ray.rpc.TerminateRequest.ActorTerminate.$Properties {
            }

            /** Represents an ActorTerminate. */
            class ActorTerminate {

                /**
                 * Constructs a new ActorTerminate.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: ray.rpc.TerminateRequest.ActorTerminate.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ActorTerminate id. */
                id: Uint8Array;

                /** ActorTerminate no_restart. */
                no_restart: boolean;

                /**
                 * Encodes the specified ActorTerminate message. Does not implicitly {@link ray.rpc.TerminateRequest.ActorTerminate.verify|verify} messages.
                 * @param message ActorTerminate message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: ray.rpc.TerminateRequest.ActorTerminate.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an ActorTerminate message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {ray.rpc.TerminateRequest.ActorTerminate & ray.rpc.TerminateRequest.ActorTerminate.$Shape} ActorTerminate
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.TerminateRequest.ActorTerminate & ray.rpc.TerminateRequest.ActorTerminate.$Shape;
            }

            namespace ActorTerminate {

                /** Properties of an ActorTerminate. */
                interface $Properties {

                    /** ActorTerminate id */
                    id?: (Uint8Array|null);

                    /** ActorTerminate no_restart */
                    no_restart?: (boolean|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an ActorTerminate. */
                type $Shape = ray.rpc.TerminateRequest.ActorTerminate.$Properties;
            }

            /**
             * Properties of a TaskObjectTerminate.
             * @deprecated Use ray.rpc.TerminateRequest.TaskObjectTerminate.$Properties instead.
             */
            interface ITaskObjectTerminate extends ray.rpc.TerminateRequest.TaskObjectTerminate.$Properties {
            }

            /** Represents a TaskObjectTerminate. */
            class TaskObjectTerminate {

                /**
                 * Constructs a new TaskObjectTerminate.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: ray.rpc.TerminateRequest.TaskObjectTerminate.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** TaskObjectTerminate id. */
                id: Uint8Array;

                /** TaskObjectTerminate force. */
                force: boolean;

                /** TaskObjectTerminate recursive. */
                recursive: boolean;

                /**
                 * Encodes the specified TaskObjectTerminate message. Does not implicitly {@link ray.rpc.TerminateRequest.TaskObjectTerminate.verify|verify} messages.
                 * @param message TaskObjectTerminate message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: ray.rpc.TerminateRequest.TaskObjectTerminate.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a TaskObjectTerminate message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {ray.rpc.TerminateRequest.TaskObjectTerminate & ray.rpc.TerminateRequest.TaskObjectTerminate.$Shape} TaskObjectTerminate
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.TerminateRequest.TaskObjectTerminate & ray.rpc.TerminateRequest.TaskObjectTerminate.$Shape;
            }

            namespace TaskObjectTerminate {

                /** Properties of a TaskObjectTerminate. */
                interface $Properties {

                    /** TaskObjectTerminate id */
                    id?: (Uint8Array|null);

                    /** TaskObjectTerminate force */
                    force?: (boolean|null);

                    /** TaskObjectTerminate recursive */
                    recursive?: (boolean|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a TaskObjectTerminate. */
                type $Shape = ray.rpc.TerminateRequest.TaskObjectTerminate.$Properties;
            }
        }

        /**
         * Properties of a TerminateResponse.
         * @deprecated Use ray.rpc.TerminateResponse.$Properties instead.
         */
        interface ITerminateResponse extends ray.rpc.TerminateResponse.$Properties {
        }

        /** Represents a TerminateResponse. */
        class TerminateResponse {

            /**
             * Constructs a new TerminateResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.TerminateResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** TerminateResponse ok. */
            ok: boolean;

            /**
             * Encodes the specified TerminateResponse message. Does not implicitly {@link ray.rpc.TerminateResponse.verify|verify} messages.
             * @param message TerminateResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.TerminateResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a TerminateResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.TerminateResponse & ray.rpc.TerminateResponse.$Shape} TerminateResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.TerminateResponse & ray.rpc.TerminateResponse.$Shape;
        }

        namespace TerminateResponse {

            /** Properties of a TerminateResponse. */
            interface $Properties {

                /** TerminateResponse ok */
                ok?: (boolean|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a TerminateResponse. */
            type $Shape = ray.rpc.TerminateResponse.$Properties;
        }

        /**
         * Properties of a ClientListNamedActorsRequest.
         * @deprecated Use ray.rpc.ClientListNamedActorsRequest.$Properties instead.
         */
        interface IClientListNamedActorsRequest extends ray.rpc.ClientListNamedActorsRequest.$Properties {
        }

        /** Represents a ClientListNamedActorsRequest. */
        class ClientListNamedActorsRequest {

            /**
             * Constructs a new ClientListNamedActorsRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClientListNamedActorsRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClientListNamedActorsRequest all_namespaces. */
            all_namespaces: boolean;

            /**
             * Encodes the specified ClientListNamedActorsRequest message. Does not implicitly {@link ray.rpc.ClientListNamedActorsRequest.verify|verify} messages.
             * @param message ClientListNamedActorsRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClientListNamedActorsRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientListNamedActorsRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClientListNamedActorsRequest & ray.rpc.ClientListNamedActorsRequest.$Shape} ClientListNamedActorsRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClientListNamedActorsRequest & ray.rpc.ClientListNamedActorsRequest.$Shape;
        }

        namespace ClientListNamedActorsRequest {

            /** Properties of a ClientListNamedActorsRequest. */
            interface $Properties {

                /** ClientListNamedActorsRequest all_namespaces */
                all_namespaces?: (boolean|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientListNamedActorsRequest. */
            type $Shape = ray.rpc.ClientListNamedActorsRequest.$Properties;
        }

        /**
         * Properties of a ClientListNamedActorsResponse.
         * @deprecated Use ray.rpc.ClientListNamedActorsResponse.$Properties instead.
         */
        interface IClientListNamedActorsResponse extends ray.rpc.ClientListNamedActorsResponse.$Properties {
        }

        /** Represents a ClientListNamedActorsResponse. */
        class ClientListNamedActorsResponse {

            /**
             * Constructs a new ClientListNamedActorsResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClientListNamedActorsResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClientListNamedActorsResponse actors_json. */
            actors_json: string;

            /**
             * Encodes the specified ClientListNamedActorsResponse message. Does not implicitly {@link ray.rpc.ClientListNamedActorsResponse.verify|verify} messages.
             * @param message ClientListNamedActorsResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClientListNamedActorsResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientListNamedActorsResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClientListNamedActorsResponse & ray.rpc.ClientListNamedActorsResponse.$Shape} ClientListNamedActorsResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClientListNamedActorsResponse & ray.rpc.ClientListNamedActorsResponse.$Shape;
        }

        namespace ClientListNamedActorsResponse {

            /** Properties of a ClientListNamedActorsResponse. */
            interface $Properties {

                /** ClientListNamedActorsResponse actors_json */
                actors_json?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientListNamedActorsResponse. */
            type $Shape = ray.rpc.ClientListNamedActorsResponse.$Properties;
        }

        /**
         * Properties of a DataRequest.
         * @deprecated Use ray.rpc.DataRequest.$Properties instead.
         */
        interface IDataRequest extends ray.rpc.DataRequest.$Properties {
        }

        /** Represents a DataRequest. */
        class DataRequest {

            /**
             * Constructs a new DataRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.DataRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** DataRequest req_id. */
            req_id: number;

            /** DataRequest get. */
            get?: (ray.rpc.GetRequest.$Properties|null);

            /** DataRequest put. */
            put?: (ray.rpc.PutRequest.$Properties|null);

            /** DataRequest release. */
            release?: (ray.rpc.ReleaseRequest.$Properties|null);

            /** DataRequest connection_info. */
            connection_info?: (ray.rpc.ConnectionInfoRequest.$Properties|null);

            /** DataRequest init. */
            init?: (ray.rpc.InitRequest.$Properties|null);

            /** DataRequest connection_cleanup. */
            connection_cleanup?: (ray.rpc.ConnectionCleanupRequest.$Properties|null);

            /** DataRequest acknowledge. */
            acknowledge?: (ray.rpc.AcknowledgeRequest.$Properties|null);

            /** DataRequest task. */
            task?: (ray.rpc.ClientTask.$Properties|null);

            /** DataRequest terminate. */
            terminate?: (ray.rpc.TerminateRequest.$Properties|null);

            /** DataRequest list_named_actors. */
            list_named_actors?: (ray.rpc.ClientListNamedActorsRequest.$Properties|null);

            /** DataRequest type. */
            type?: ("get"|"put"|"release"|"connection_info"|"init"|"connection_cleanup"|"acknowledge"|"task"|"terminate"|"list_named_actors");

            /**
             * Encodes the specified DataRequest message. Does not implicitly {@link ray.rpc.DataRequest.verify|verify} messages.
             * @param message DataRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.DataRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a DataRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.DataRequest & ray.rpc.DataRequest.$Shape} DataRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.DataRequest & ray.rpc.DataRequest.$Shape;
        }

        namespace DataRequest {

            /** Properties of a DataRequest. */
            interface $Properties {

                /** DataRequest req_id */
                req_id?: (number|null);

                /** DataRequest get */
                get?: (ray.rpc.GetRequest.$Properties|null);

                /** DataRequest put */
                put?: (ray.rpc.PutRequest.$Properties|null);

                /** DataRequest release */
                release?: (ray.rpc.ReleaseRequest.$Properties|null);

                /** DataRequest connection_info */
                connection_info?: (ray.rpc.ConnectionInfoRequest.$Properties|null);

                /** DataRequest init */
                init?: (ray.rpc.InitRequest.$Properties|null);

                /** DataRequest connection_cleanup */
                connection_cleanup?: (ray.rpc.ConnectionCleanupRequest.$Properties|null);

                /** DataRequest acknowledge */
                acknowledge?: (ray.rpc.AcknowledgeRequest.$Properties|null);

                /** DataRequest task */
                task?: (ray.rpc.ClientTask.$Properties|null);

                /** DataRequest terminate */
                terminate?: (ray.rpc.TerminateRequest.$Properties|null);

                /** DataRequest list_named_actors */
                list_named_actors?: (ray.rpc.ClientListNamedActorsRequest.$Properties|null);

                /** DataRequest type */
                type?: ("get"|"put"|"release"|"connection_info"|"init"|"connection_cleanup"|"acknowledge"|"task"|"terminate"|"list_named_actors");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a DataRequest. */
            type $Shape = {
              req_id?: number|null;
              get?: ray.rpc.GetRequest.$Shape|null;
              put?: ray.rpc.PutRequest.$Shape|null;
              release?: ray.rpc.ReleaseRequest.$Shape|null;
              connection_info?: ray.rpc.ConnectionInfoRequest.$Shape|null;
              init?: ray.rpc.InitRequest.$Shape|null;
              connection_cleanup?: ray.rpc.ConnectionCleanupRequest.$Shape|null;
              acknowledge?: ray.rpc.AcknowledgeRequest.$Shape|null;
              task?: ray.rpc.ClientTask.$Shape|null;
              terminate?: ray.rpc.TerminateRequest.$Shape|null;
              list_named_actors?: ray.rpc.ClientListNamedActorsRequest.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ type?: undefined; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge?: null; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "get"; get: ray.rpc.GetRequest.$Shape; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge?: null; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "put"; get?: null; put: ray.rpc.PutRequest.$Shape; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge?: null; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "release"; get?: null; put?: null; release: ray.rpc.ReleaseRequest.$Shape; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge?: null; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "connection_info"; get?: null; put?: null; release?: null; connection_info: ray.rpc.ConnectionInfoRequest.$Shape; init?: null; connection_cleanup?: null; acknowledge?: null; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "init"; get?: null; put?: null; release?: null; connection_info?: null; init: ray.rpc.InitRequest.$Shape; connection_cleanup?: null; acknowledge?: null; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "connection_cleanup"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup: ray.rpc.ConnectionCleanupRequest.$Shape; acknowledge?: null; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "acknowledge"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge: ray.rpc.AcknowledgeRequest.$Shape; task?: null; terminate?: null; list_named_actors?: null }|{ type?: "task"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge?: null; task: ray.rpc.ClientTask.$Shape; terminate?: null; list_named_actors?: null }|{ type?: "terminate"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge?: null; task?: null; terminate: ray.rpc.TerminateRequest.$Shape; list_named_actors?: null }|{ type?: "list_named_actors"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; acknowledge?: null; task?: null; terminate?: null; list_named_actors: ray.rpc.ClientListNamedActorsRequest.$Shape })
            );
        }

        /**
         * Properties of a DataResponse.
         * @deprecated Use ray.rpc.DataResponse.$Properties instead.
         */
        interface IDataResponse extends ray.rpc.DataResponse.$Properties {
        }

        /** Represents a DataResponse. */
        class DataResponse {

            /**
             * Constructs a new DataResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.DataResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** DataResponse req_id. */
            req_id: number;

            /** DataResponse get. */
            get?: (ray.rpc.GetResponse.$Properties|null);

            /** DataResponse put. */
            put?: (ray.rpc.PutResponse.$Properties|null);

            /** DataResponse release. */
            release?: (ray.rpc.ReleaseResponse.$Properties|null);

            /** DataResponse connection_info. */
            connection_info?: (ray.rpc.ConnectionInfoResponse.$Properties|null);

            /** DataResponse init. */
            init?: (ray.rpc.InitResponse.$Properties|null);

            /** DataResponse connection_cleanup. */
            connection_cleanup?: (ray.rpc.ConnectionCleanupResponse.$Properties|null);

            /** DataResponse task_ticket. */
            task_ticket?: (ray.rpc.ClientTaskTicket.$Properties|null);

            /** DataResponse terminate. */
            terminate?: (ray.rpc.TerminateResponse.$Properties|null);

            /** DataResponse list_named_actors. */
            list_named_actors?: (ray.rpc.ClientListNamedActorsResponse.$Properties|null);

            /** DataResponse type. */
            type?: ("get"|"put"|"release"|"connection_info"|"init"|"connection_cleanup"|"task_ticket"|"terminate"|"list_named_actors");

            /**
             * Encodes the specified DataResponse message. Does not implicitly {@link ray.rpc.DataResponse.verify|verify} messages.
             * @param message DataResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.DataResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a DataResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.DataResponse & ray.rpc.DataResponse.$Shape} DataResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.DataResponse & ray.rpc.DataResponse.$Shape;
        }

        namespace DataResponse {

            /** Properties of a DataResponse. */
            interface $Properties {

                /** DataResponse req_id */
                req_id?: (number|null);

                /** DataResponse get */
                get?: (ray.rpc.GetResponse.$Properties|null);

                /** DataResponse put */
                put?: (ray.rpc.PutResponse.$Properties|null);

                /** DataResponse release */
                release?: (ray.rpc.ReleaseResponse.$Properties|null);

                /** DataResponse connection_info */
                connection_info?: (ray.rpc.ConnectionInfoResponse.$Properties|null);

                /** DataResponse init */
                init?: (ray.rpc.InitResponse.$Properties|null);

                /** DataResponse connection_cleanup */
                connection_cleanup?: (ray.rpc.ConnectionCleanupResponse.$Properties|null);

                /** DataResponse task_ticket */
                task_ticket?: (ray.rpc.ClientTaskTicket.$Properties|null);

                /** DataResponse terminate */
                terminate?: (ray.rpc.TerminateResponse.$Properties|null);

                /** DataResponse list_named_actors */
                list_named_actors?: (ray.rpc.ClientListNamedActorsResponse.$Properties|null);

                /** DataResponse type */
                type?: ("get"|"put"|"release"|"connection_info"|"init"|"connection_cleanup"|"task_ticket"|"terminate"|"list_named_actors");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a DataResponse. */
            type $Shape = {
              req_id?: number|null;
              get?: ray.rpc.GetResponse.$Shape|null;
              put?: ray.rpc.PutResponse.$Shape|null;
              release?: ray.rpc.ReleaseResponse.$Shape|null;
              connection_info?: ray.rpc.ConnectionInfoResponse.$Shape|null;
              init?: ray.rpc.InitResponse.$Shape|null;
              connection_cleanup?: ray.rpc.ConnectionCleanupResponse.$Shape|null;
              task_ticket?: ray.rpc.ClientTaskTicket.$Shape|null;
              terminate?: ray.rpc.TerminateResponse.$Shape|null;
              list_named_actors?: ray.rpc.ClientListNamedActorsResponse.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ type?: undefined; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; task_ticket?: null; terminate?: null; list_named_actors?: null }|{ type?: "get"; get: ray.rpc.GetResponse.$Shape; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; task_ticket?: null; terminate?: null; list_named_actors?: null }|{ type?: "put"; get?: null; put: ray.rpc.PutResponse.$Shape; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; task_ticket?: null; terminate?: null; list_named_actors?: null }|{ type?: "release"; get?: null; put?: null; release: ray.rpc.ReleaseResponse.$Shape; connection_info?: null; init?: null; connection_cleanup?: null; task_ticket?: null; terminate?: null; list_named_actors?: null }|{ type?: "connection_info"; get?: null; put?: null; release?: null; connection_info: ray.rpc.ConnectionInfoResponse.$Shape; init?: null; connection_cleanup?: null; task_ticket?: null; terminate?: null; list_named_actors?: null }|{ type?: "init"; get?: null; put?: null; release?: null; connection_info?: null; init: ray.rpc.InitResponse.$Shape; connection_cleanup?: null; task_ticket?: null; terminate?: null; list_named_actors?: null }|{ type?: "connection_cleanup"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup: ray.rpc.ConnectionCleanupResponse.$Shape; task_ticket?: null; terminate?: null; list_named_actors?: null }|{ type?: "task_ticket"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; task_ticket: ray.rpc.ClientTaskTicket.$Shape; terminate?: null; list_named_actors?: null }|{ type?: "terminate"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; task_ticket?: null; terminate: ray.rpc.TerminateResponse.$Shape; list_named_actors?: null }|{ type?: "list_named_actors"; get?: null; put?: null; release?: null; connection_info?: null; init?: null; connection_cleanup?: null; task_ticket?: null; terminate?: null; list_named_actors: ray.rpc.ClientListNamedActorsResponse.$Shape })
            );
        }

        /**
         * Properties of a ClusterInfoType.
         * @deprecated Use ray.rpc.ClusterInfoType.$Properties instead.
         */
        interface IClusterInfoType extends ray.rpc.ClusterInfoType.$Properties {
        }

        /** Represents a ClusterInfoType. */
        class ClusterInfoType {

            /**
             * Constructs a new ClusterInfoType.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClusterInfoType.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /**
             * Encodes the specified ClusterInfoType message. Does not implicitly {@link ray.rpc.ClusterInfoType.verify|verify} messages.
             * @param message ClusterInfoType message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClusterInfoType.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClusterInfoType message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClusterInfoType & ray.rpc.ClusterInfoType.$Shape} ClusterInfoType
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClusterInfoType & ray.rpc.ClusterInfoType.$Shape;
        }

        namespace ClusterInfoType {

            /** Properties of a ClusterInfoType. */
            interface $Properties {

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClusterInfoType. */
            type $Shape = ray.rpc.ClusterInfoType.$Properties;

            /** TypeEnum enum. */
            enum TypeEnum {

                /** IS_INITIALIZED value */
                IS_INITIALIZED = 0,

                /** NODES value */
                NODES = 1,

                /** CLUSTER_RESOURCES value */
                CLUSTER_RESOURCES = 2,

                /** AVAILABLE_RESOURCES value */
                AVAILABLE_RESOURCES = 3,

                /** RUNTIME_CONTEXT value */
                RUNTIME_CONTEXT = 4,

                /** TIMELINE value */
                TIMELINE = 5,

                /** PING value */
                PING = 6,

                /** DASHBOARD_URL value */
                DASHBOARD_URL = 7
            }
        }

        /**
         * Properties of a ClusterInfoRequest.
         * @deprecated Use ray.rpc.ClusterInfoRequest.$Properties instead.
         */
        interface IClusterInfoRequest extends ray.rpc.ClusterInfoRequest.$Properties {
        }

        /** Represents a ClusterInfoRequest. */
        class ClusterInfoRequest {

            /**
             * Constructs a new ClusterInfoRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClusterInfoRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClusterInfoRequest type. */
            type: ray.rpc.ClusterInfoType.TypeEnum;

            /**
             * Encodes the specified ClusterInfoRequest message. Does not implicitly {@link ray.rpc.ClusterInfoRequest.verify|verify} messages.
             * @param message ClusterInfoRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClusterInfoRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClusterInfoRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClusterInfoRequest & ray.rpc.ClusterInfoRequest.$Shape} ClusterInfoRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClusterInfoRequest & ray.rpc.ClusterInfoRequest.$Shape;
        }

        namespace ClusterInfoRequest {

            /** Properties of a ClusterInfoRequest. */
            interface $Properties {

                /** ClusterInfoRequest type */
                type?: (ray.rpc.ClusterInfoType.TypeEnum|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClusterInfoRequest. */
            type $Shape = ray.rpc.ClusterInfoRequest.$Properties;
        }

        /**
         * Properties of a ClusterInfoResponse.
         * @deprecated Use ray.rpc.ClusterInfoResponse.$Properties instead.
         */
        interface IClusterInfoResponse extends ray.rpc.ClusterInfoResponse.$Properties {
        }

        /** Represents a ClusterInfoResponse. */
        class ClusterInfoResponse {

            /**
             * Constructs a new ClusterInfoResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClusterInfoResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClusterInfoResponse type. */
            type: ray.rpc.ClusterInfoType.TypeEnum;

            /** ClusterInfoResponse json. */
            json?: (string|null);

            /** ClusterInfoResponse resource_table. */
            resource_table?: (ray.rpc.ClusterInfoResponse.ResourceTable.$Properties|null);

            /** ClusterInfoResponse runtime_context. */
            runtime_context?: (ray.rpc.ClusterInfoResponse.RuntimeContext.$Properties|null);

            /** ClusterInfoResponse response_type. */
            response_type?: ("json"|"resource_table"|"runtime_context");

            /**
             * Encodes the specified ClusterInfoResponse message. Does not implicitly {@link ray.rpc.ClusterInfoResponse.verify|verify} messages.
             * @param message ClusterInfoResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClusterInfoResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClusterInfoResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClusterInfoResponse & ray.rpc.ClusterInfoResponse.$Shape} ClusterInfoResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClusterInfoResponse & ray.rpc.ClusterInfoResponse.$Shape;
        }

        namespace ClusterInfoResponse {

            /** Properties of a ClusterInfoResponse. */
            interface $Properties {

                /** ClusterInfoResponse type */
                type?: (ray.rpc.ClusterInfoType.TypeEnum|null);

                /** ClusterInfoResponse json */
                json?: (string|null);

                /** ClusterInfoResponse resource_table */
                resource_table?: (ray.rpc.ClusterInfoResponse.ResourceTable.$Properties|null);

                /** ClusterInfoResponse runtime_context */
                runtime_context?: (ray.rpc.ClusterInfoResponse.RuntimeContext.$Properties|null);

                /** ClusterInfoResponse response_type */
                response_type?: ("json"|"resource_table"|"runtime_context");

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Narrowed shape of a ClusterInfoResponse. */
            type $Shape = {
              type?: ray.rpc.ClusterInfoType.TypeEnum|null;
              json?: string|null;
              resource_table?: ray.rpc.ClusterInfoResponse.ResourceTable.$Shape|null;
              runtime_context?: ray.rpc.ClusterInfoResponse.RuntimeContext.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ response_type?: undefined; json?: null; resource_table?: null; runtime_context?: null }|{ response_type?: "json"; json: string; resource_table?: null; runtime_context?: null }|{ response_type?: "resource_table"; json?: null; resource_table: ray.rpc.ClusterInfoResponse.ResourceTable.$Shape; runtime_context?: null }|{ response_type?: "runtime_context"; json?: null; resource_table?: null; runtime_context: ray.rpc.ClusterInfoResponse.RuntimeContext.$Shape })
            );

            /**
             * Properties of a ResourceTable.
             * @deprecated Use ray.rpc.ClusterInfoResponse.ResourceTable.$Properties instead.
             */
            interface IResourceTable extends ray.rpc.ClusterInfoResponse.ResourceTable.$Properties {
            }

            /** Represents a ResourceTable. */
            class ResourceTable {

                /**
                 * Constructs a new ResourceTable.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: ray.rpc.ClusterInfoResponse.ResourceTable.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ResourceTable table. */
                table: { [k: string]: number };

                /**
                 * Encodes the specified ResourceTable message. Does not implicitly {@link ray.rpc.ClusterInfoResponse.ResourceTable.verify|verify} messages.
                 * @param message ResourceTable message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: ray.rpc.ClusterInfoResponse.ResourceTable.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a ResourceTable message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {ray.rpc.ClusterInfoResponse.ResourceTable & ray.rpc.ClusterInfoResponse.ResourceTable.$Shape} ResourceTable
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClusterInfoResponse.ResourceTable & ray.rpc.ClusterInfoResponse.ResourceTable.$Shape;
            }

            namespace ResourceTable {

                /** Properties of a ResourceTable. */
                interface $Properties {

                    /** ResourceTable table */
                    table?: ({ [k: string]: number }|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a ResourceTable. */
                type $Shape = ray.rpc.ClusterInfoResponse.ResourceTable.$Properties;
            }

            /**
             * Properties of a RuntimeContext.
             * @deprecated Use ray.rpc.ClusterInfoResponse.RuntimeContext.$Properties instead.
             */
            interface IRuntimeContext extends ray.rpc.ClusterInfoResponse.RuntimeContext.$Properties {
            }

            /** Represents a RuntimeContext. */
            class RuntimeContext {

                /**
                 * Constructs a new RuntimeContext.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: ray.rpc.ClusterInfoResponse.RuntimeContext.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** RuntimeContext job_id. */
                job_id: Uint8Array;

                /** RuntimeContext node_id. */
                node_id: Uint8Array;

                /** RuntimeContext namespace. */
                namespace: string;

                /** RuntimeContext runtime_env. */
                runtime_env: string;

                /** RuntimeContext capture_client_tasks. */
                capture_client_tasks: boolean;

                /** RuntimeContext gcs_address. */
                gcs_address: string;

                /** RuntimeContext session_name. */
                session_name: string;

                /** RuntimeContext worker_id. */
                worker_id: Uint8Array;

                /**
                 * Encodes the specified RuntimeContext message. Does not implicitly {@link ray.rpc.ClusterInfoResponse.RuntimeContext.verify|verify} messages.
                 * @param message RuntimeContext message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: ray.rpc.ClusterInfoResponse.RuntimeContext.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a RuntimeContext message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {ray.rpc.ClusterInfoResponse.RuntimeContext & ray.rpc.ClusterInfoResponse.RuntimeContext.$Shape} RuntimeContext
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClusterInfoResponse.RuntimeContext & ray.rpc.ClusterInfoResponse.RuntimeContext.$Shape;
            }

            namespace RuntimeContext {

                /** Properties of a RuntimeContext. */
                interface $Properties {

                    /** RuntimeContext job_id */
                    job_id?: (Uint8Array|null);

                    /** RuntimeContext node_id */
                    node_id?: (Uint8Array|null);

                    /** RuntimeContext namespace */
                    namespace?: (string|null);

                    /** RuntimeContext runtime_env */
                    runtime_env?: (string|null);

                    /** RuntimeContext capture_client_tasks */
                    capture_client_tasks?: (boolean|null);

                    /** RuntimeContext gcs_address */
                    gcs_address?: (string|null);

                    /** RuntimeContext session_name */
                    session_name?: (string|null);

                    /** RuntimeContext worker_id */
                    worker_id?: (Uint8Array|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a RuntimeContext. */
                type $Shape = ray.rpc.ClusterInfoResponse.RuntimeContext.$Properties;
            }
        }

        /**
         * Properties of a KVGetRequest.
         * @deprecated Use ray.rpc.KVGetRequest.$Properties instead.
         */
        interface IKVGetRequest extends ray.rpc.KVGetRequest.$Properties {
        }

        /** Represents a KVGetRequest. */
        class KVGetRequest {

            /**
             * Constructs a new KVGetRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVGetRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVGetRequest key. */
            key: Uint8Array;

            /** KVGetRequest namespace. */
            namespace?: (Uint8Array|null);

            /**
             * Encodes the specified KVGetRequest message. Does not implicitly {@link ray.rpc.KVGetRequest.verify|verify} messages.
             * @param message KVGetRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVGetRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVGetRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVGetRequest & ray.rpc.KVGetRequest.$Shape} KVGetRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVGetRequest & ray.rpc.KVGetRequest.$Shape;
        }

        namespace KVGetRequest {

            /** Properties of a KVGetRequest. */
            interface $Properties {

                /** KVGetRequest key */
                key?: (Uint8Array|null);

                /** KVGetRequest namespace */
                namespace?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVGetRequest. */
            type $Shape = ray.rpc.KVGetRequest.$Properties;
        }

        /**
         * Properties of a KVGetResponse.
         * @deprecated Use ray.rpc.KVGetResponse.$Properties instead.
         */
        interface IKVGetResponse extends ray.rpc.KVGetResponse.$Properties {
        }

        /** Represents a KVGetResponse. */
        class KVGetResponse {

            /**
             * Constructs a new KVGetResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVGetResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVGetResponse value. */
            value?: (Uint8Array|null);

            /**
             * Encodes the specified KVGetResponse message. Does not implicitly {@link ray.rpc.KVGetResponse.verify|verify} messages.
             * @param message KVGetResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVGetResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVGetResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVGetResponse & ray.rpc.KVGetResponse.$Shape} KVGetResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVGetResponse & ray.rpc.KVGetResponse.$Shape;
        }

        namespace KVGetResponse {

            /** Properties of a KVGetResponse. */
            interface $Properties {

                /** KVGetResponse value */
                value?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVGetResponse. */
            type $Shape = ray.rpc.KVGetResponse.$Properties;
        }

        /**
         * Properties of a KVPutRequest.
         * @deprecated Use ray.rpc.KVPutRequest.$Properties instead.
         */
        interface IKVPutRequest extends ray.rpc.KVPutRequest.$Properties {
        }

        /** Represents a KVPutRequest. */
        class KVPutRequest {

            /**
             * Constructs a new KVPutRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVPutRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVPutRequest key. */
            key: Uint8Array;

            /** KVPutRequest value. */
            value: Uint8Array;

            /** KVPutRequest overwrite. */
            overwrite: boolean;

            /** KVPutRequest namespace. */
            namespace?: (Uint8Array|null);

            /**
             * Encodes the specified KVPutRequest message. Does not implicitly {@link ray.rpc.KVPutRequest.verify|verify} messages.
             * @param message KVPutRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVPutRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVPutRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVPutRequest & ray.rpc.KVPutRequest.$Shape} KVPutRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVPutRequest & ray.rpc.KVPutRequest.$Shape;
        }

        namespace KVPutRequest {

            /** Properties of a KVPutRequest. */
            interface $Properties {

                /** KVPutRequest key */
                key?: (Uint8Array|null);

                /** KVPutRequest value */
                value?: (Uint8Array|null);

                /** KVPutRequest overwrite */
                overwrite?: (boolean|null);

                /** KVPutRequest namespace */
                namespace?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVPutRequest. */
            type $Shape = ray.rpc.KVPutRequest.$Properties;
        }

        /**
         * Properties of a KVPutResponse.
         * @deprecated Use ray.rpc.KVPutResponse.$Properties instead.
         */
        interface IKVPutResponse extends ray.rpc.KVPutResponse.$Properties {
        }

        /** Represents a KVPutResponse. */
        class KVPutResponse {

            /**
             * Constructs a new KVPutResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVPutResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVPutResponse already_exists. */
            already_exists: boolean;

            /**
             * Encodes the specified KVPutResponse message. Does not implicitly {@link ray.rpc.KVPutResponse.verify|verify} messages.
             * @param message KVPutResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVPutResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVPutResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVPutResponse & ray.rpc.KVPutResponse.$Shape} KVPutResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVPutResponse & ray.rpc.KVPutResponse.$Shape;
        }

        namespace KVPutResponse {

            /** Properties of a KVPutResponse. */
            interface $Properties {

                /** KVPutResponse already_exists */
                already_exists?: (boolean|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVPutResponse. */
            type $Shape = ray.rpc.KVPutResponse.$Properties;
        }

        /**
         * Properties of a KVDelRequest.
         * @deprecated Use ray.rpc.KVDelRequest.$Properties instead.
         */
        interface IKVDelRequest extends ray.rpc.KVDelRequest.$Properties {
        }

        /** Represents a KVDelRequest. */
        class KVDelRequest {

            /**
             * Constructs a new KVDelRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVDelRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVDelRequest key. */
            key: Uint8Array;

            /** KVDelRequest del_by_prefix. */
            del_by_prefix: boolean;

            /** KVDelRequest namespace. */
            namespace?: (Uint8Array|null);

            /**
             * Encodes the specified KVDelRequest message. Does not implicitly {@link ray.rpc.KVDelRequest.verify|verify} messages.
             * @param message KVDelRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVDelRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVDelRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVDelRequest & ray.rpc.KVDelRequest.$Shape} KVDelRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVDelRequest & ray.rpc.KVDelRequest.$Shape;
        }

        namespace KVDelRequest {

            /** Properties of a KVDelRequest. */
            interface $Properties {

                /** KVDelRequest key */
                key?: (Uint8Array|null);

                /** KVDelRequest del_by_prefix */
                del_by_prefix?: (boolean|null);

                /** KVDelRequest namespace */
                namespace?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVDelRequest. */
            type $Shape = ray.rpc.KVDelRequest.$Properties;
        }

        /**
         * Properties of a KVDelResponse.
         * @deprecated Use ray.rpc.KVDelResponse.$Properties instead.
         */
        interface IKVDelResponse extends ray.rpc.KVDelResponse.$Properties {
        }

        /** Represents a KVDelResponse. */
        class KVDelResponse {

            /**
             * Constructs a new KVDelResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVDelResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVDelResponse deleted_num. */
            deleted_num: number;

            /**
             * Encodes the specified KVDelResponse message. Does not implicitly {@link ray.rpc.KVDelResponse.verify|verify} messages.
             * @param message KVDelResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVDelResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVDelResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVDelResponse & ray.rpc.KVDelResponse.$Shape} KVDelResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVDelResponse & ray.rpc.KVDelResponse.$Shape;
        }

        namespace KVDelResponse {

            /** Properties of a KVDelResponse. */
            interface $Properties {

                /** KVDelResponse deleted_num */
                deleted_num?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVDelResponse. */
            type $Shape = ray.rpc.KVDelResponse.$Properties;
        }

        /**
         * Properties of a KVListRequest.
         * @deprecated Use ray.rpc.KVListRequest.$Properties instead.
         */
        interface IKVListRequest extends ray.rpc.KVListRequest.$Properties {
        }

        /** Represents a KVListRequest. */
        class KVListRequest {

            /**
             * Constructs a new KVListRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVListRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVListRequest prefix. */
            prefix: Uint8Array;

            /** KVListRequest namespace. */
            namespace?: (Uint8Array|null);

            /**
             * Encodes the specified KVListRequest message. Does not implicitly {@link ray.rpc.KVListRequest.verify|verify} messages.
             * @param message KVListRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVListRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVListRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVListRequest & ray.rpc.KVListRequest.$Shape} KVListRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVListRequest & ray.rpc.KVListRequest.$Shape;
        }

        namespace KVListRequest {

            /** Properties of a KVListRequest. */
            interface $Properties {

                /** KVListRequest prefix */
                prefix?: (Uint8Array|null);

                /** KVListRequest namespace */
                namespace?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVListRequest. */
            type $Shape = ray.rpc.KVListRequest.$Properties;
        }

        /**
         * Properties of a KVListResponse.
         * @deprecated Use ray.rpc.KVListResponse.$Properties instead.
         */
        interface IKVListResponse extends ray.rpc.KVListResponse.$Properties {
        }

        /** Represents a KVListResponse. */
        class KVListResponse {

            /**
             * Constructs a new KVListResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVListResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVListResponse keys. */
            keys: Uint8Array[];

            /**
             * Encodes the specified KVListResponse message. Does not implicitly {@link ray.rpc.KVListResponse.verify|verify} messages.
             * @param message KVListResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVListResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVListResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVListResponse & ray.rpc.KVListResponse.$Shape} KVListResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVListResponse & ray.rpc.KVListResponse.$Shape;
        }

        namespace KVListResponse {

            /** Properties of a KVListResponse. */
            interface $Properties {

                /** KVListResponse keys */
                keys?: (Uint8Array[]|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVListResponse. */
            type $Shape = ray.rpc.KVListResponse.$Properties;
        }

        /**
         * Properties of a KVExistsRequest.
         * @deprecated Use ray.rpc.KVExistsRequest.$Properties instead.
         */
        interface IKVExistsRequest extends ray.rpc.KVExistsRequest.$Properties {
        }

        /** Represents a KVExistsRequest. */
        class KVExistsRequest {

            /**
             * Constructs a new KVExistsRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVExistsRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVExistsRequest key. */
            key: Uint8Array;

            /** KVExistsRequest namespace. */
            namespace?: (Uint8Array|null);

            /**
             * Encodes the specified KVExistsRequest message. Does not implicitly {@link ray.rpc.KVExistsRequest.verify|verify} messages.
             * @param message KVExistsRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVExistsRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVExistsRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVExistsRequest & ray.rpc.KVExistsRequest.$Shape} KVExistsRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVExistsRequest & ray.rpc.KVExistsRequest.$Shape;
        }

        namespace KVExistsRequest {

            /** Properties of a KVExistsRequest. */
            interface $Properties {

                /** KVExistsRequest key */
                key?: (Uint8Array|null);

                /** KVExistsRequest namespace */
                namespace?: (Uint8Array|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVExistsRequest. */
            type $Shape = ray.rpc.KVExistsRequest.$Properties;
        }

        /**
         * Properties of a KVExistsResponse.
         * @deprecated Use ray.rpc.KVExistsResponse.$Properties instead.
         */
        interface IKVExistsResponse extends ray.rpc.KVExistsResponse.$Properties {
        }

        /** Represents a KVExistsResponse. */
        class KVExistsResponse {

            /**
             * Constructs a new KVExistsResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.KVExistsResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** KVExistsResponse exists. */
            exists: boolean;

            /**
             * Encodes the specified KVExistsResponse message. Does not implicitly {@link ray.rpc.KVExistsResponse.verify|verify} messages.
             * @param message KVExistsResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.KVExistsResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a KVExistsResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.KVExistsResponse & ray.rpc.KVExistsResponse.$Shape} KVExistsResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.KVExistsResponse & ray.rpc.KVExistsResponse.$Shape;
        }

        namespace KVExistsResponse {

            /** Properties of a KVExistsResponse. */
            interface $Properties {

                /** KVExistsResponse exists */
                exists?: (boolean|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a KVExistsResponse. */
            type $Shape = ray.rpc.KVExistsResponse.$Properties;
        }

        /**
         * Properties of a ClientPinRuntimeEnvURIRequest.
         * @deprecated Use ray.rpc.ClientPinRuntimeEnvURIRequest.$Properties instead.
         */
        interface IClientPinRuntimeEnvURIRequest extends ray.rpc.ClientPinRuntimeEnvURIRequest.$Properties {
        }

        /** Represents a ClientPinRuntimeEnvURIRequest. */
        class ClientPinRuntimeEnvURIRequest {

            /**
             * Constructs a new ClientPinRuntimeEnvURIRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClientPinRuntimeEnvURIRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** ClientPinRuntimeEnvURIRequest uri. */
            uri: string;

            /** ClientPinRuntimeEnvURIRequest expiration_s. */
            expiration_s: number;

            /**
             * Encodes the specified ClientPinRuntimeEnvURIRequest message. Does not implicitly {@link ray.rpc.ClientPinRuntimeEnvURIRequest.verify|verify} messages.
             * @param message ClientPinRuntimeEnvURIRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClientPinRuntimeEnvURIRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientPinRuntimeEnvURIRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClientPinRuntimeEnvURIRequest & ray.rpc.ClientPinRuntimeEnvURIRequest.$Shape} ClientPinRuntimeEnvURIRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClientPinRuntimeEnvURIRequest & ray.rpc.ClientPinRuntimeEnvURIRequest.$Shape;
        }

        namespace ClientPinRuntimeEnvURIRequest {

            /** Properties of a ClientPinRuntimeEnvURIRequest. */
            interface $Properties {

                /** ClientPinRuntimeEnvURIRequest uri */
                uri?: (string|null);

                /** ClientPinRuntimeEnvURIRequest expiration_s */
                expiration_s?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientPinRuntimeEnvURIRequest. */
            type $Shape = ray.rpc.ClientPinRuntimeEnvURIRequest.$Properties;
        }

        /**
         * Properties of a ClientPinRuntimeEnvURIResponse.
         * @deprecated Use ray.rpc.ClientPinRuntimeEnvURIResponse.$Properties instead.
         */
        interface IClientPinRuntimeEnvURIResponse extends ray.rpc.ClientPinRuntimeEnvURIResponse.$Properties {
        }

        /** Represents a ClientPinRuntimeEnvURIResponse. */
        class ClientPinRuntimeEnvURIResponse {

            /**
             * Constructs a new ClientPinRuntimeEnvURIResponse.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.ClientPinRuntimeEnvURIResponse.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /**
             * Encodes the specified ClientPinRuntimeEnvURIResponse message. Does not implicitly {@link ray.rpc.ClientPinRuntimeEnvURIResponse.verify|verify} messages.
             * @param message ClientPinRuntimeEnvURIResponse message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.ClientPinRuntimeEnvURIResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a ClientPinRuntimeEnvURIResponse message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.ClientPinRuntimeEnvURIResponse & ray.rpc.ClientPinRuntimeEnvURIResponse.$Shape} ClientPinRuntimeEnvURIResponse
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.ClientPinRuntimeEnvURIResponse & ray.rpc.ClientPinRuntimeEnvURIResponse.$Shape;
        }

        namespace ClientPinRuntimeEnvURIResponse {

            /** Properties of a ClientPinRuntimeEnvURIResponse. */
            interface $Properties {

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a ClientPinRuntimeEnvURIResponse. */
            type $Shape = ray.rpc.ClientPinRuntimeEnvURIResponse.$Properties;
        }

        /**
         * Properties of a LogSettingsRequest.
         * @deprecated Use ray.rpc.LogSettingsRequest.$Properties instead.
         */
        interface ILogSettingsRequest extends ray.rpc.LogSettingsRequest.$Properties {
        }

        /** Represents a LogSettingsRequest. */
        class LogSettingsRequest {

            /**
             * Constructs a new LogSettingsRequest.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.LogSettingsRequest.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** LogSettingsRequest enabled. */
            enabled: boolean;

            /** LogSettingsRequest loglevel. */
            loglevel: number;

            /**
             * Encodes the specified LogSettingsRequest message. Does not implicitly {@link ray.rpc.LogSettingsRequest.verify|verify} messages.
             * @param message LogSettingsRequest message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.LogSettingsRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a LogSettingsRequest message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.LogSettingsRequest & ray.rpc.LogSettingsRequest.$Shape} LogSettingsRequest
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.LogSettingsRequest & ray.rpc.LogSettingsRequest.$Shape;
        }

        namespace LogSettingsRequest {

            /** Properties of a LogSettingsRequest. */
            interface $Properties {

                /** LogSettingsRequest enabled */
                enabled?: (boolean|null);

                /** LogSettingsRequest loglevel */
                loglevel?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a LogSettingsRequest. */
            type $Shape = ray.rpc.LogSettingsRequest.$Properties;
        }

        /**
         * Properties of a LogData.
         * @deprecated Use ray.rpc.LogData.$Properties instead.
         */
        interface ILogData extends ray.rpc.LogData.$Properties {
        }

        /** Represents a LogData. */
        class LogData {

            /**
             * Constructs a new LogData.
             * @param [properties] Properties to set
             */
            constructor(properties?: ray.rpc.LogData.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** LogData msg. */
            msg: string;

            /** LogData level. */
            level: number;

            /** LogData name. */
            name: string;

            /**
             * Encodes the specified LogData message. Does not implicitly {@link ray.rpc.LogData.verify|verify} messages.
             * @param message LogData message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: ray.rpc.LogData.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a LogData message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {ray.rpc.LogData & ray.rpc.LogData.$Shape} LogData
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): ray.rpc.LogData & ray.rpc.LogData.$Shape;
        }

        namespace LogData {

            /** Properties of a LogData. */
            interface $Properties {

                /** LogData msg */
                msg?: (string|null);

                /** LogData level */
                level?: (number|null);

                /** LogData name */
                name?: (string|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a LogData. */
            type $Shape = ray.rpc.LogData.$Properties;
        }
    }
}
