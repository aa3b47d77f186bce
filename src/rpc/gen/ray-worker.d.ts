import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace echelon. */
export namespace echelon {

    /** Namespace rayworker. */
    namespace rayworker {

        /** Namespace v1. */
        namespace v1 {

            /**
             * Properties of a DescribeRequest.
             * @deprecated Use echelon.rayworker.v1.DescribeRequest.$Properties instead.
             */
            interface IDescribeRequest extends echelon.rayworker.v1.DescribeRequest.$Properties {
            }

            /** Represents a DescribeRequest. */
            class DescribeRequest {

                /**
                 * Constructs a new DescribeRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.DescribeRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /**
                 * Encodes the specified DescribeRequest message. Does not implicitly {@link echelon.rayworker.v1.DescribeRequest.verify|verify} messages.
                 * @param message DescribeRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.DescribeRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a DescribeRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.DescribeRequest & echelon.rayworker.v1.DescribeRequest.$Shape} DescribeRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.DescribeRequest & echelon.rayworker.v1.DescribeRequest.$Shape;
            }

            namespace DescribeRequest {

                /** Properties of a DescribeRequest. */
                interface $Properties {

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a DescribeRequest. */
                type $Shape = echelon.rayworker.v1.DescribeRequest.$Properties;
            }

            /**
             * Properties of a DescribeResponse.
             * @deprecated Use echelon.rayworker.v1.DescribeResponse.$Properties instead.
             */
            interface IDescribeResponse extends echelon.rayworker.v1.DescribeResponse.$Properties {
            }

            /** Represents a DescribeResponse. */
            class DescribeResponse {

                /**
                 * Constructs a new DescribeResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.DescribeResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** DescribeResponse version. */
                version: string;

                /** DescribeResponse generation. */
                generation: string;

                /** DescribeResponse rayVersion. */
                rayVersion: string;

                /** DescribeResponse pythonVersion. */
                pythonVersion: string;

                /** DescribeResponse nodeId. */
                nodeId: string;

                /** DescribeResponse sharedRoot. */
                sharedRoot: string;

                /** DescribeResponse nodes. */
                nodes: echelon.rayworker.v1.Node.$Properties[];

                /** DescribeResponse engines. */
                engines: string[];

                /** DescribeResponse freeDiskBytes. */
                freeDiskBytes: number;

                /** DescribeResponse startedAtUnixMs. */
                startedAtUnixMs: number;

                /**
                 * Encodes the specified DescribeResponse message. Does not implicitly {@link echelon.rayworker.v1.DescribeResponse.verify|verify} messages.
                 * @param message DescribeResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.DescribeResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a DescribeResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.DescribeResponse & echelon.rayworker.v1.DescribeResponse.$Shape} DescribeResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.DescribeResponse & echelon.rayworker.v1.DescribeResponse.$Shape;
            }

            namespace DescribeResponse {

                /** Properties of a DescribeResponse. */
                interface $Properties {

                    /** DescribeResponse version */
                    version?: (string|null);

                    /** DescribeResponse generation */
                    generation?: (string|null);

                    /** DescribeResponse rayVersion */
                    rayVersion?: (string|null);

                    /** DescribeResponse pythonVersion */
                    pythonVersion?: (string|null);

                    /** DescribeResponse nodeId */
                    nodeId?: (string|null);

                    /** DescribeResponse sharedRoot */
                    sharedRoot?: (string|null);

                    /** DescribeResponse nodes */
                    nodes?: (echelon.rayworker.v1.Node.$Properties[]|null);

                    /** DescribeResponse engines */
                    engines?: (string[]|null);

                    /** DescribeResponse freeDiskBytes */
                    freeDiskBytes?: (number|null);

                    /** DescribeResponse startedAtUnixMs */
                    startedAtUnixMs?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a DescribeResponse. */
                type $Shape = echelon.rayworker.v1.DescribeResponse.$Properties;
            }

            /**
             * Properties of a Node.
             * @deprecated Use echelon.rayworker.v1.Node.$Properties instead.
             */
            interface INode extends echelon.rayworker.v1.Node.$Properties {
            }

            /** Represents a Node. */
            class Node {

                /**
                 * Constructs a new Node.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Node.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Node id. */
                id: string;

                /** Node address. */
                address: string;

                /** Node alive. */
                alive: boolean;

                /** Node cpusTotal. */
                cpusTotal: number;

                /** Node gpusTotal. */
                gpusTotal: number;

                /** Node cpusAvailable. */
                cpusAvailable: number;

                /** Node gpusAvailable. */
                gpusAvailable: number;

                /**
                 * Encodes the specified Node message. Does not implicitly {@link echelon.rayworker.v1.Node.verify|verify} messages.
                 * @param message Node message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Node.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Node message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Node & echelon.rayworker.v1.Node.$Shape} Node
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Node & echelon.rayworker.v1.Node.$Shape;
            }

            namespace Node {

                /** Properties of a Node. */
                interface $Properties {

                    /** Node id */
                    id?: (string|null);

                    /** Node address */
                    address?: (string|null);

                    /** Node alive */
                    alive?: (boolean|null);

                    /** Node cpusTotal */
                    cpusTotal?: (number|null);

                    /** Node gpusTotal */
                    gpusTotal?: (number|null);

                    /** Node cpusAvailable */
                    cpusAvailable?: (number|null);

                    /** Node gpusAvailable */
                    gpusAvailable?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Node. */
                type $Shape = echelon.rayworker.v1.Node.$Properties;
            }

            /**
             * Properties of a LaunchRequest.
             * @deprecated Use echelon.rayworker.v1.LaunchRequest.$Properties instead.
             */
            interface ILaunchRequest extends echelon.rayworker.v1.LaunchRequest.$Properties {
            }

            /** Represents a LaunchRequest. */
            class LaunchRequest {

                /**
                 * Constructs a new LaunchRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.LaunchRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** LaunchRequest experiment. */
                experiment: string;

                /** LaunchRequest attempt. */
                attempt: number;

                /** LaunchRequest plan. */
                plan?: (echelon.rayworker.v1.LaunchPlan.$Properties|null);

                /**
                 * Encodes the specified LaunchRequest message. Does not implicitly {@link echelon.rayworker.v1.LaunchRequest.verify|verify} messages.
                 * @param message LaunchRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.LaunchRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a LaunchRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.LaunchRequest & echelon.rayworker.v1.LaunchRequest.$Shape} LaunchRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.LaunchRequest & echelon.rayworker.v1.LaunchRequest.$Shape;
            }

            namespace LaunchRequest {

                /** Properties of a LaunchRequest. */
                interface $Properties {

                    /** LaunchRequest experiment */
                    experiment?: (string|null);

                    /** LaunchRequest attempt */
                    attempt?: (number|null);

                    /** LaunchRequest plan */
                    plan?: (echelon.rayworker.v1.LaunchPlan.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a LaunchRequest. */
                type $Shape = echelon.rayworker.v1.LaunchRequest.$Properties;
            }

            /**
             * Properties of a LaunchPlan.
             * @deprecated Use echelon.rayworker.v1.LaunchPlan.$Properties instead.
             */
            interface ILaunchPlan extends echelon.rayworker.v1.LaunchPlan.$Properties {
            }

            /** Represents a LaunchPlan. */
            class LaunchPlan {

                /**
                 * Constructs a new LaunchPlan.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.LaunchPlan.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** LaunchPlan engine. */
                engine: string;

                /** LaunchPlan module. */
                module: string;

                /** LaunchPlan arguments. */
                arguments: string[];

                /** LaunchPlan environment. */
                environment: { [k: string]: string };

                /** LaunchPlan gpus. */
                gpus: number;

                /** LaunchPlan cpus. */
                cpus: number;

                /** LaunchPlan gracePeriodMs. */
                gracePeriodMs: number;

                /** LaunchPlan files. */
                files: { [k: string]: Uint8Array };

                /** LaunchPlan logBudgetBytes. */
                logBudgetBytes: number;

                /** LaunchPlan secrets. */
                secrets: { [k: string]: string };

                /**
                 * Encodes the specified LaunchPlan message. Does not implicitly {@link echelon.rayworker.v1.LaunchPlan.verify|verify} messages.
                 * @param message LaunchPlan message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.LaunchPlan.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a LaunchPlan message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.LaunchPlan & echelon.rayworker.v1.LaunchPlan.$Shape} LaunchPlan
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.LaunchPlan & echelon.rayworker.v1.LaunchPlan.$Shape;
            }

            namespace LaunchPlan {

                /** Properties of a LaunchPlan. */
                interface $Properties {

                    /** LaunchPlan engine */
                    engine?: (string|null);

                    /** LaunchPlan module */
                    module?: (string|null);

                    /** LaunchPlan arguments */
                    "arguments"?: (string[]|null);

                    /** LaunchPlan environment */
                    environment?: ({ [k: string]: string }|null);

                    /** LaunchPlan gpus */
                    gpus?: (number|null);

                    /** LaunchPlan cpus */
                    cpus?: (number|null);

                    /** LaunchPlan gracePeriodMs */
                    gracePeriodMs?: (number|null);

                    /** LaunchPlan files */
                    files?: ({ [k: string]: Uint8Array }|null);

                    /** LaunchPlan logBudgetBytes */
                    logBudgetBytes?: (number|null);

                    /** LaunchPlan secrets */
                    secrets?: ({ [k: string]: string }|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a LaunchPlan. */
                type $Shape = echelon.rayworker.v1.LaunchPlan.$Properties;
            }

            /**
             * Properties of a LaunchResponse.
             * @deprecated Use echelon.rayworker.v1.LaunchResponse.$Properties instead.
             */
            interface ILaunchResponse extends echelon.rayworker.v1.LaunchResponse.$Properties {
            }

            /** Represents a LaunchResponse. */
            class LaunchResponse {

                /**
                 * Constructs a new LaunchResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.LaunchResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** LaunchResponse outcome. */
                outcome: echelon.rayworker.v1.LaunchResponse.Outcome;

                /** LaunchResponse fencingAttempt. */
                fencingAttempt: number;

                /** LaunchResponse reason. */
                reason: string;

                /**
                 * Encodes the specified LaunchResponse message. Does not implicitly {@link echelon.rayworker.v1.LaunchResponse.verify|verify} messages.
                 * @param message LaunchResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.LaunchResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a LaunchResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.LaunchResponse & echelon.rayworker.v1.LaunchResponse.$Shape} LaunchResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.LaunchResponse & echelon.rayworker.v1.LaunchResponse.$Shape;
            }

            namespace LaunchResponse {

                /** Properties of a LaunchResponse. */
                interface $Properties {

                    /** LaunchResponse outcome */
                    outcome?: (echelon.rayworker.v1.LaunchResponse.Outcome|null);

                    /** LaunchResponse fencingAttempt */
                    fencingAttempt?: (number|null);

                    /** LaunchResponse reason */
                    reason?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a LaunchResponse. */
                type $Shape = echelon.rayworker.v1.LaunchResponse.$Properties;

                /** Outcome enum. */
                enum Outcome {

                    /** OUTCOME_UNSPECIFIED value */
                    OUTCOME_UNSPECIFIED = 0,

                    /** STARTED value */
                    STARTED = 1,

                    /** ALREADY_RUNNING value */
                    ALREADY_RUNNING = 2,

                    /** ALREADY_ENDED value */
                    ALREADY_ENDED = 3,

                    /** FENCED value */
                    FENCED = 4
                }
            }

            /**
             * Properties of an AttachRequest.
             * @deprecated Use echelon.rayworker.v1.AttachRequest.$Properties instead.
             */
            interface IAttachRequest extends echelon.rayworker.v1.AttachRequest.$Properties {
            }

            /** Represents an AttachRequest. */
            class AttachRequest {

                /**
                 * Constructs a new AttachRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.AttachRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** AttachRequest experiment. */
                experiment: string;

                /** AttachRequest attempt. */
                attempt: number;

                /** AttachRequest after. */
                after: number;

                /**
                 * Encodes the specified AttachRequest message. Does not implicitly {@link echelon.rayworker.v1.AttachRequest.verify|verify} messages.
                 * @param message AttachRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.AttachRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an AttachRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.AttachRequest & echelon.rayworker.v1.AttachRequest.$Shape} AttachRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.AttachRequest & echelon.rayworker.v1.AttachRequest.$Shape;
            }

            namespace AttachRequest {

                /** Properties of an AttachRequest. */
                interface $Properties {

                    /** AttachRequest experiment */
                    experiment?: (string|null);

                    /** AttachRequest attempt */
                    attempt?: (number|null);

                    /** AttachRequest after */
                    after?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an AttachRequest. */
                type $Shape = echelon.rayworker.v1.AttachRequest.$Properties;
            }

            /**
             * Properties of a StopRequest.
             * @deprecated Use echelon.rayworker.v1.StopRequest.$Properties instead.
             */
            interface IStopRequest extends echelon.rayworker.v1.StopRequest.$Properties {
            }

            /** Represents a StopRequest. */
            class StopRequest {

                /**
                 * Constructs a new StopRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.StopRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** StopRequest experiment. */
                experiment: string;

                /** StopRequest attempt. */
                attempt: number;

                /** StopRequest gracePeriodMs. */
                gracePeriodMs: number;

                /** StopRequest reason. */
                reason: string;

                /**
                 * Encodes the specified StopRequest message. Does not implicitly {@link echelon.rayworker.v1.StopRequest.verify|verify} messages.
                 * @param message StopRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.StopRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a StopRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.StopRequest & echelon.rayworker.v1.StopRequest.$Shape} StopRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.StopRequest & echelon.rayworker.v1.StopRequest.$Shape;
            }

            namespace StopRequest {

                /** Properties of a StopRequest. */
                interface $Properties {

                    /** StopRequest experiment */
                    experiment?: (string|null);

                    /** StopRequest attempt */
                    attempt?: (number|null);

                    /** StopRequest gracePeriodMs */
                    gracePeriodMs?: (number|null);

                    /** StopRequest reason */
                    reason?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a StopRequest. */
                type $Shape = echelon.rayworker.v1.StopRequest.$Properties;
            }

            /**
             * Properties of a ForgetRequest.
             * @deprecated Use echelon.rayworker.v1.ForgetRequest.$Properties instead.
             */
            interface IForgetRequest extends echelon.rayworker.v1.ForgetRequest.$Properties {
            }

            /** Represents a ForgetRequest. */
            class ForgetRequest {

                /**
                 * Constructs a new ForgetRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.ForgetRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ForgetRequest experiment. */
                experiment: string;

                /** ForgetRequest attempt. */
                attempt: number;

                /**
                 * Encodes the specified ForgetRequest message. Does not implicitly {@link echelon.rayworker.v1.ForgetRequest.verify|verify} messages.
                 * @param message ForgetRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.ForgetRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a ForgetRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.ForgetRequest & echelon.rayworker.v1.ForgetRequest.$Shape} ForgetRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.ForgetRequest & echelon.rayworker.v1.ForgetRequest.$Shape;
            }

            namespace ForgetRequest {

                /** Properties of a ForgetRequest. */
                interface $Properties {

                    /** ForgetRequest experiment */
                    experiment?: (string|null);

                    /** ForgetRequest attempt */
                    attempt?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a ForgetRequest. */
                type $Shape = echelon.rayworker.v1.ForgetRequest.$Properties;
            }

            /**
             * Properties of a ForgetResponse.
             * @deprecated Use echelon.rayworker.v1.ForgetResponse.$Properties instead.
             */
            interface IForgetResponse extends echelon.rayworker.v1.ForgetResponse.$Properties {
            }

            /** Represents a ForgetResponse. */
            class ForgetResponse {

                /**
                 * Constructs a new ForgetResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.ForgetResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ForgetResponse forgotten. */
                forgotten: number;

                /**
                 * Encodes the specified ForgetResponse message. Does not implicitly {@link echelon.rayworker.v1.ForgetResponse.verify|verify} messages.
                 * @param message ForgetResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.ForgetResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a ForgetResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.ForgetResponse & echelon.rayworker.v1.ForgetResponse.$Shape} ForgetResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.ForgetResponse & echelon.rayworker.v1.ForgetResponse.$Shape;
            }

            namespace ForgetResponse {

                /** Properties of a ForgetResponse. */
                interface $Properties {

                    /** ForgetResponse forgotten */
                    forgotten?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a ForgetResponse. */
                type $Shape = echelon.rayworker.v1.ForgetResponse.$Properties;
            }

            /**
             * Properties of a StopResponse.
             * @deprecated Use echelon.rayworker.v1.StopResponse.$Properties instead.
             */
            interface IStopResponse extends echelon.rayworker.v1.StopResponse.$Properties {
            }

            /** Represents a StopResponse. */
            class StopResponse {

                /**
                 * Constructs a new StopResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.StopResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** StopResponse dropped. */
                dropped: boolean;

                /** StopResponse ended. */
                ended?: (echelon.rayworker.v1.Ended.$Properties|null);

                /**
                 * Encodes the specified StopResponse message. Does not implicitly {@link echelon.rayworker.v1.StopResponse.verify|verify} messages.
                 * @param message StopResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.StopResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a StopResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.StopResponse & echelon.rayworker.v1.StopResponse.$Shape} StopResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.StopResponse & echelon.rayworker.v1.StopResponse.$Shape;
            }

            namespace StopResponse {

                /** Properties of a StopResponse. */
                interface $Properties {

                    /** StopResponse dropped */
                    dropped?: (boolean|null);

                    /** StopResponse ended */
                    ended?: (echelon.rayworker.v1.Ended.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a StopResponse. */
                type $Shape = echelon.rayworker.v1.StopResponse.$Properties;
            }

            /**
             * Properties of a PreflightRequest.
             * @deprecated Use echelon.rayworker.v1.PreflightRequest.$Properties instead.
             */
            interface IPreflightRequest extends echelon.rayworker.v1.PreflightRequest.$Properties {
            }

            /** Represents a PreflightRequest. */
            class PreflightRequest {

                /**
                 * Constructs a new PreflightRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.PreflightRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** PreflightRequest plan. */
                plan?: (echelon.rayworker.v1.LaunchPlan.$Properties|null);

                /** PreflightRequest deadlineMs. */
                deadlineMs: number;

                /**
                 * Encodes the specified PreflightRequest message. Does not implicitly {@link echelon.rayworker.v1.PreflightRequest.verify|verify} messages.
                 * @param message PreflightRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.PreflightRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a PreflightRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.PreflightRequest & echelon.rayworker.v1.PreflightRequest.$Shape} PreflightRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.PreflightRequest & echelon.rayworker.v1.PreflightRequest.$Shape;
            }

            namespace PreflightRequest {

                /** Properties of a PreflightRequest. */
                interface $Properties {

                    /** PreflightRequest plan */
                    plan?: (echelon.rayworker.v1.LaunchPlan.$Properties|null);

                    /** PreflightRequest deadlineMs */
                    deadlineMs?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a PreflightRequest. */
                type $Shape = echelon.rayworker.v1.PreflightRequest.$Properties;
            }

            /**
             * Properties of a PreflightResponse.
             * @deprecated Use echelon.rayworker.v1.PreflightResponse.$Properties instead.
             */
            interface IPreflightResponse extends echelon.rayworker.v1.PreflightResponse.$Properties {
            }

            /** Represents a PreflightResponse. */
            class PreflightResponse {

                /**
                 * Constructs a new PreflightResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.PreflightResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** PreflightResponse findings. */
                findings: echelon.rayworker.v1.Finding.$Properties[];

                /**
                 * Encodes the specified PreflightResponse message. Does not implicitly {@link echelon.rayworker.v1.PreflightResponse.verify|verify} messages.
                 * @param message PreflightResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.PreflightResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a PreflightResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.PreflightResponse & echelon.rayworker.v1.PreflightResponse.$Shape} PreflightResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.PreflightResponse & echelon.rayworker.v1.PreflightResponse.$Shape;
            }

            namespace PreflightResponse {

                /** Properties of a PreflightResponse. */
                interface $Properties {

                    /** PreflightResponse findings */
                    findings?: (echelon.rayworker.v1.Finding.$Properties[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a PreflightResponse. */
                type $Shape = echelon.rayworker.v1.PreflightResponse.$Properties;
            }

            /**
             * Properties of a Finding.
             * @deprecated Use echelon.rayworker.v1.Finding.$Properties instead.
             */
            interface IFinding extends echelon.rayworker.v1.Finding.$Properties {
            }

            /** Represents a Finding. */
            class Finding {

                /**
                 * Constructs a new Finding.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Finding.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Finding check. */
                check: string;

                /** Finding severity. */
                severity: echelon.rayworker.v1.Finding.Severity;

                /** Finding message. */
                message: string;

                /** Finding remedy. */
                remedy: string;

                /**
                 * Encodes the specified Finding message. Does not implicitly {@link echelon.rayworker.v1.Finding.verify|verify} messages.
                 * @param message Finding message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Finding.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Finding message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Finding & echelon.rayworker.v1.Finding.$Shape} Finding
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Finding & echelon.rayworker.v1.Finding.$Shape;
            }

            namespace Finding {

                /** Properties of a Finding. */
                interface $Properties {

                    /** Finding check */
                    check?: (string|null);

                    /** Finding severity */
                    severity?: (echelon.rayworker.v1.Finding.Severity|null);

                    /** Finding message */
                    message?: (string|null);

                    /** Finding remedy */
                    remedy?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Finding. */
                type $Shape = echelon.rayworker.v1.Finding.$Properties;

                /** Severity enum. */
                enum Severity {

                    /** SEVERITY_UNSPECIFIED value */
                    SEVERITY_UNSPECIFIED = 0,

                    /** OK value */
                    OK = 1,

                    /** WARNING value */
                    WARNING = 2,

                    /** ERROR value */
                    ERROR = 3
                }
            }

            /**
             * Properties of a ListRequest.
             * @deprecated Use echelon.rayworker.v1.ListRequest.$Properties instead.
             */
            interface IListRequest extends echelon.rayworker.v1.ListRequest.$Properties {
            }

            /** Represents a ListRequest. */
            class ListRequest {

                /**
                 * Constructs a new ListRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.ListRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ListRequest experiment. */
                experiment: string;

                /**
                 * Encodes the specified ListRequest message. Does not implicitly {@link echelon.rayworker.v1.ListRequest.verify|verify} messages.
                 * @param message ListRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.ListRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a ListRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.ListRequest & echelon.rayworker.v1.ListRequest.$Shape} ListRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.ListRequest & echelon.rayworker.v1.ListRequest.$Shape;
            }

            namespace ListRequest {

                /** Properties of a ListRequest. */
                interface $Properties {

                    /** ListRequest experiment */
                    experiment?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a ListRequest. */
                type $Shape = echelon.rayworker.v1.ListRequest.$Properties;
            }

            /**
             * Properties of a ListResponse.
             * @deprecated Use echelon.rayworker.v1.ListResponse.$Properties instead.
             */
            interface IListResponse extends echelon.rayworker.v1.ListResponse.$Properties {
            }

            /** Represents a ListResponse. */
            class ListResponse {

                /**
                 * Constructs a new ListResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.ListResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ListResponse attempts. */
                attempts: echelon.rayworker.v1.AttemptStatus.$Properties[];

                /**
                 * Encodes the specified ListResponse message. Does not implicitly {@link echelon.rayworker.v1.ListResponse.verify|verify} messages.
                 * @param message ListResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.ListResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a ListResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.ListResponse & echelon.rayworker.v1.ListResponse.$Shape} ListResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.ListResponse & echelon.rayworker.v1.ListResponse.$Shape;
            }

            namespace ListResponse {

                /** Properties of a ListResponse. */
                interface $Properties {

                    /** ListResponse attempts */
                    attempts?: (echelon.rayworker.v1.AttemptStatus.$Properties[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a ListResponse. */
                type $Shape = echelon.rayworker.v1.ListResponse.$Properties;
            }

            /**
             * Properties of an AttemptStatus.
             * @deprecated Use echelon.rayworker.v1.AttemptStatus.$Properties instead.
             */
            interface IAttemptStatus extends echelon.rayworker.v1.AttemptStatus.$Properties {
            }

            /** Represents an AttemptStatus. */
            class AttemptStatus {

                /**
                 * Constructs a new AttemptStatus.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.AttemptStatus.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** AttemptStatus experiment. */
                experiment: string;

                /** AttemptStatus attempt. */
                attempt: number;

                /** AttemptStatus running. */
                running: boolean;

                /** AttemptStatus lastSequence. */
                lastSequence: number;

                /** AttemptStatus launchedAtUnixMs. */
                launchedAtUnixMs: number;

                /** AttemptStatus ended. */
                ended?: (echelon.rayworker.v1.Ended.$Properties|null);

                /** AttemptStatus tombstone. */
                tombstone: boolean;

                /**
                 * Encodes the specified AttemptStatus message. Does not implicitly {@link echelon.rayworker.v1.AttemptStatus.verify|verify} messages.
                 * @param message AttemptStatus message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.AttemptStatus.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an AttemptStatus message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.AttemptStatus & echelon.rayworker.v1.AttemptStatus.$Shape} AttemptStatus
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.AttemptStatus & echelon.rayworker.v1.AttemptStatus.$Shape;
            }

            namespace AttemptStatus {

                /** Properties of an AttemptStatus. */
                interface $Properties {

                    /** AttemptStatus experiment */
                    experiment?: (string|null);

                    /** AttemptStatus attempt */
                    attempt?: (number|null);

                    /** AttemptStatus running */
                    running?: (boolean|null);

                    /** AttemptStatus lastSequence */
                    lastSequence?: (number|null);

                    /** AttemptStatus launchedAtUnixMs */
                    launchedAtUnixMs?: (number|null);

                    /** AttemptStatus ended */
                    ended?: (echelon.rayworker.v1.Ended.$Properties|null);

                    /** AttemptStatus tombstone */
                    tombstone?: (boolean|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an AttemptStatus. */
                type $Shape = echelon.rayworker.v1.AttemptStatus.$Properties;
            }

            /**
             * Properties of an AttemptEvent.
             * @deprecated Use echelon.rayworker.v1.AttemptEvent.$Properties instead.
             */
            interface IAttemptEvent extends echelon.rayworker.v1.AttemptEvent.$Properties {
            }

            /** Represents an AttemptEvent. */
            class AttemptEvent {

                /**
                 * Constructs a new AttemptEvent.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.AttemptEvent.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** AttemptEvent sequence. */
                sequence: number;

                /** AttemptEvent timeUnixMs. */
                timeUnixMs: number;

                /** AttemptEvent started. */
                started?: (echelon.rayworker.v1.Started.$Properties|null);

                /** AttemptEvent stage. */
                stage?: (echelon.rayworker.v1.Stage.$Properties|null);

                /** AttemptEvent log. */
                log?: (echelon.rayworker.v1.LogLines.$Properties|null);

                /** AttemptEvent metrics. */
                metrics?: (echelon.rayworker.v1.Metrics.$Properties|null);

                /** AttemptEvent batch. */
                batch?: (echelon.rayworker.v1.BatchChunk.$Properties|null);

                /** AttemptEvent checkpoint. */
                checkpoint?: (echelon.rayworker.v1.Checkpoint.$Properties|null);

                /** AttemptEvent gap. */
                gap?: (echelon.rayworker.v1.Gap.$Properties|null);

                /** AttemptEvent ended. */
                ended?: (echelon.rayworker.v1.Ended.$Properties|null);

                /** AttemptEvent body. */
                body?: ("started"|"stage"|"log"|"metrics"|"batch"|"checkpoint"|"gap"|"ended");

                /**
                 * Encodes the specified AttemptEvent message. Does not implicitly {@link echelon.rayworker.v1.AttemptEvent.verify|verify} messages.
                 * @param message AttemptEvent message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.AttemptEvent.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an AttemptEvent message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.AttemptEvent & echelon.rayworker.v1.AttemptEvent.$Shape} AttemptEvent
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.AttemptEvent & echelon.rayworker.v1.AttemptEvent.$Shape;
            }

            namespace AttemptEvent {

                /** Properties of an AttemptEvent. */
                interface $Properties {

                    /** AttemptEvent sequence */
                    sequence?: (number|null);

                    /** AttemptEvent timeUnixMs */
                    timeUnixMs?: (number|null);

                    /** AttemptEvent started */
                    started?: (echelon.rayworker.v1.Started.$Properties|null);

                    /** AttemptEvent stage */
                    stage?: (echelon.rayworker.v1.Stage.$Properties|null);

                    /** AttemptEvent log */
                    log?: (echelon.rayworker.v1.LogLines.$Properties|null);

                    /** AttemptEvent metrics */
                    metrics?: (echelon.rayworker.v1.Metrics.$Properties|null);

                    /** AttemptEvent batch */
                    batch?: (echelon.rayworker.v1.BatchChunk.$Properties|null);

                    /** AttemptEvent checkpoint */
                    checkpoint?: (echelon.rayworker.v1.Checkpoint.$Properties|null);

                    /** AttemptEvent gap */
                    gap?: (echelon.rayworker.v1.Gap.$Properties|null);

                    /** AttemptEvent ended */
                    ended?: (echelon.rayworker.v1.Ended.$Properties|null);

                    /** AttemptEvent body */
                    body?: ("started"|"stage"|"log"|"metrics"|"batch"|"checkpoint"|"gap"|"ended");

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Narrowed shape of an AttemptEvent. */
                type $Shape = {
                  sequence?: number|null;
                  timeUnixMs?: number|null;
                  started?: echelon.rayworker.v1.Started.$Shape|null;
                  stage?: echelon.rayworker.v1.Stage.$Shape|null;
                  log?: echelon.rayworker.v1.LogLines.$Shape|null;
                  metrics?: echelon.rayworker.v1.Metrics.$Shape|null;
                  batch?: echelon.rayworker.v1.BatchChunk.$Shape|null;
                  checkpoint?: echelon.rayworker.v1.Checkpoint.$Shape|null;
                  gap?: echelon.rayworker.v1.Gap.$Shape|null;
                  ended?: echelon.rayworker.v1.Ended.$Shape|null;
                  $unknowns?: Uint8Array[];
                } & (
                  ({ body?: undefined; started?: null; stage?: null; log?: null; metrics?: null; batch?: null; checkpoint?: null; gap?: null; ended?: null }|{ body?: "started"; started: echelon.rayworker.v1.Started.$Shape; stage?: null; log?: null; metrics?: null; batch?: null; checkpoint?: null; gap?: null; ended?: null }|{ body?: "stage"; started?: null; stage: echelon.rayworker.v1.Stage.$Shape; log?: null; metrics?: null; batch?: null; checkpoint?: null; gap?: null; ended?: null }|{ body?: "log"; started?: null; stage?: null; log: echelon.rayworker.v1.LogLines.$Shape; metrics?: null; batch?: null; checkpoint?: null; gap?: null; ended?: null }|{ body?: "metrics"; started?: null; stage?: null; log?: null; metrics: echelon.rayworker.v1.Metrics.$Shape; batch?: null; checkpoint?: null; gap?: null; ended?: null }|{ body?: "batch"; started?: null; stage?: null; log?: null; metrics?: null; batch: echelon.rayworker.v1.BatchChunk.$Shape; checkpoint?: null; gap?: null; ended?: null }|{ body?: "checkpoint"; started?: null; stage?: null; log?: null; metrics?: null; batch?: null; checkpoint: echelon.rayworker.v1.Checkpoint.$Shape; gap?: null; ended?: null }|{ body?: "gap"; started?: null; stage?: null; log?: null; metrics?: null; batch?: null; checkpoint?: null; gap: echelon.rayworker.v1.Gap.$Shape; ended?: null }|{ body?: "ended"; started?: null; stage?: null; log?: null; metrics?: null; batch?: null; checkpoint?: null; gap?: null; ended: echelon.rayworker.v1.Ended.$Shape })
                );
            }

            /**
             * Properties of a Started.
             * @deprecated Use echelon.rayworker.v1.Started.$Properties instead.
             */
            interface IStarted extends echelon.rayworker.v1.Started.$Properties {
            }

            /** Represents a Started. */
            class Started {

                /**
                 * Constructs a new Started.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Started.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Started pid. */
                pid: number;

                /** Started nodeId. */
                nodeId: string;

                /** Started command. */
                command: string[];

                /**
                 * Encodes the specified Started message. Does not implicitly {@link echelon.rayworker.v1.Started.verify|verify} messages.
                 * @param message Started message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Started.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Started message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Started & echelon.rayworker.v1.Started.$Shape} Started
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Started & echelon.rayworker.v1.Started.$Shape;
            }

            namespace Started {

                /** Properties of a Started. */
                interface $Properties {

                    /** Started pid */
                    pid?: (number|null);

                    /** Started nodeId */
                    nodeId?: (string|null);

                    /** Started command */
                    command?: (string[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Started. */
                type $Shape = echelon.rayworker.v1.Started.$Properties;
            }

            /**
             * Properties of a Stage.
             * @deprecated Use echelon.rayworker.v1.Stage.$Properties instead.
             */
            interface IStage extends echelon.rayworker.v1.Stage.$Properties {
            }

            /** Represents a Stage. */
            class Stage {

                /**
                 * Constructs a new Stage.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Stage.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Stage name. */
                name: string;

                /** Stage step. */
                step: number;

                /** Stage steps. */
                steps: number;

                /**
                 * Encodes the specified Stage message. Does not implicitly {@link echelon.rayworker.v1.Stage.verify|verify} messages.
                 * @param message Stage message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Stage.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Stage message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Stage & echelon.rayworker.v1.Stage.$Shape} Stage
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Stage & echelon.rayworker.v1.Stage.$Shape;
            }

            namespace Stage {

                /** Properties of a Stage. */
                interface $Properties {

                    /** Stage name */
                    name?: (string|null);

                    /** Stage step */
                    step?: (number|null);

                    /** Stage steps */
                    steps?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Stage. */
                type $Shape = echelon.rayworker.v1.Stage.$Properties;
            }

            /**
             * Properties of a LogLines.
             * @deprecated Use echelon.rayworker.v1.LogLines.$Properties instead.
             */
            interface ILogLines extends echelon.rayworker.v1.LogLines.$Properties {
            }

            /** Represents a LogLines. */
            class LogLines {

                /**
                 * Constructs a new LogLines.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.LogLines.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** LogLines source. */
                source: echelon.rayworker.v1.LogLines.Source;

                /** LogLines lines. */
                lines: string[];

                /** LogLines cutBytes. */
                cutBytes: number;

                /**
                 * Encodes the specified LogLines message. Does not implicitly {@link echelon.rayworker.v1.LogLines.verify|verify} messages.
                 * @param message LogLines message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.LogLines.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a LogLines message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.LogLines & echelon.rayworker.v1.LogLines.$Shape} LogLines
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.LogLines & echelon.rayworker.v1.LogLines.$Shape;
            }

            namespace LogLines {

                /** Properties of a LogLines. */
                interface $Properties {

                    /** LogLines source */
                    source?: (echelon.rayworker.v1.LogLines.Source|null);

                    /** LogLines lines */
                    lines?: (string[]|null);

                    /** LogLines cutBytes */
                    cutBytes?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a LogLines. */
                type $Shape = echelon.rayworker.v1.LogLines.$Properties;

                /** Source enum. */
                enum Source {

                    /** SOURCE_UNSPECIFIED value */
                    SOURCE_UNSPECIFIED = 0,

                    /** STDOUT value */
                    STDOUT = 1,

                    /** STDERR value */
                    STDERR = 2
                }
            }

            /**
             * Properties of a Metrics.
             * @deprecated Use echelon.rayworker.v1.Metrics.$Properties instead.
             */
            interface IMetrics extends echelon.rayworker.v1.Metrics.$Properties {
            }

            /** Represents a Metrics. */
            class Metrics {

                /**
                 * Constructs a new Metrics.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Metrics.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Metrics step. */
                step: number;

                /** Metrics values. */
                values: { [k: string]: number };

                /**
                 * Encodes the specified Metrics message. Does not implicitly {@link echelon.rayworker.v1.Metrics.verify|verify} messages.
                 * @param message Metrics message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Metrics.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Metrics message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Metrics & echelon.rayworker.v1.Metrics.$Shape} Metrics
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Metrics & echelon.rayworker.v1.Metrics.$Shape;
            }

            namespace Metrics {

                /** Properties of a Metrics. */
                interface $Properties {

                    /** Metrics step */
                    step?: (number|null);

                    /** Metrics values */
                    values?: ({ [k: string]: number }|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Metrics. */
                type $Shape = echelon.rayworker.v1.Metrics.$Properties;
            }

            /**
             * Properties of a BatchChunk.
             * @deprecated Use echelon.rayworker.v1.BatchChunk.$Properties instead.
             */
            interface IBatchChunk extends echelon.rayworker.v1.BatchChunk.$Properties {
            }

            /** Represents a BatchChunk. */
            class BatchChunk {

                /**
                 * Constructs a new BatchChunk.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.BatchChunk.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** BatchChunk step. */
                step: number;

                /** BatchChunk batch. */
                batch: number;

                /** BatchChunk index. */
                index: number;

                /** BatchChunk count. */
                count: number;

                /** BatchChunk data. */
                data: Uint8Array;

                /** BatchChunk digest. */
                digest: Uint8Array;

                /** BatchChunk rows. */
                rows: number;

                /**
                 * Encodes the specified BatchChunk message. Does not implicitly {@link echelon.rayworker.v1.BatchChunk.verify|verify} messages.
                 * @param message BatchChunk message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.BatchChunk.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a BatchChunk message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.BatchChunk & echelon.rayworker.v1.BatchChunk.$Shape} BatchChunk
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.BatchChunk & echelon.rayworker.v1.BatchChunk.$Shape;
            }

            namespace BatchChunk {

                /** Properties of a BatchChunk. */
                interface $Properties {

                    /** BatchChunk step */
                    step?: (number|null);

                    /** BatchChunk batch */
                    batch?: (number|null);

                    /** BatchChunk index */
                    index?: (number|null);

                    /** BatchChunk count */
                    count?: (number|null);

                    /** BatchChunk data */
                    data?: (Uint8Array|null);

                    /** BatchChunk digest */
                    digest?: (Uint8Array|null);

                    /** BatchChunk rows */
                    rows?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a BatchChunk. */
                type $Shape = echelon.rayworker.v1.BatchChunk.$Properties;
            }

            /**
             * Properties of a Checkpoint.
             * @deprecated Use echelon.rayworker.v1.Checkpoint.$Properties instead.
             */
            interface ICheckpoint extends echelon.rayworker.v1.Checkpoint.$Properties {
            }

            /** Represents a Checkpoint. */
            class Checkpoint {

                /**
                 * Constructs a new Checkpoint.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Checkpoint.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Checkpoint step. */
                step: number;

                /** Checkpoint path. */
                path: string;

                /**
                 * Encodes the specified Checkpoint message. Does not implicitly {@link echelon.rayworker.v1.Checkpoint.verify|verify} messages.
                 * @param message Checkpoint message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Checkpoint.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Checkpoint message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Checkpoint & echelon.rayworker.v1.Checkpoint.$Shape} Checkpoint
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Checkpoint & echelon.rayworker.v1.Checkpoint.$Shape;
            }

            namespace Checkpoint {

                /** Properties of a Checkpoint. */
                interface $Properties {

                    /** Checkpoint step */
                    step?: (number|null);

                    /** Checkpoint path */
                    path?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Checkpoint. */
                type $Shape = echelon.rayworker.v1.Checkpoint.$Properties;
            }

            /**
             * Properties of a Gap.
             * @deprecated Use echelon.rayworker.v1.Gap.$Properties instead.
             */
            interface IGap extends echelon.rayworker.v1.Gap.$Properties {
            }

            /** Represents a Gap. */
            class Gap {

                /**
                 * Constructs a new Gap.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Gap.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Gap kind. */
                kind: echelon.rayworker.v1.Gap.Kind;

                /** Gap step. */
                step: number;

                /** Gap count. */
                count: number;

                /** Gap bytes. */
                bytes: number;

                /** Gap reason. */
                reason: string;

                /** Gap rows. */
                rows: number;

                /**
                 * Encodes the specified Gap message. Does not implicitly {@link echelon.rayworker.v1.Gap.verify|verify} messages.
                 * @param message Gap message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Gap.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Gap message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Gap & echelon.rayworker.v1.Gap.$Shape} Gap
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Gap & echelon.rayworker.v1.Gap.$Shape;
            }

            namespace Gap {

                /** Properties of a Gap. */
                interface $Properties {

                    /** Gap kind */
                    kind?: (echelon.rayworker.v1.Gap.Kind|null);

                    /** Gap step */
                    step?: (number|null);

                    /** Gap count */
                    count?: (number|null);

                    /** Gap bytes */
                    bytes?: (number|null);

                    /** Gap reason */
                    reason?: (string|null);

                    /** Gap rows */
                    rows?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Gap. */
                type $Shape = echelon.rayworker.v1.Gap.$Properties;

                /** Kind enum. */
                enum Kind {

                    /** KIND_UNSPECIFIED value */
                    KIND_UNSPECIFIED = 0,

                    /** LOGS value */
                    LOGS = 1,

                    /** BATCH value */
                    BATCH = 2
                }
            }

            /**
             * Properties of an Ended.
             * @deprecated Use echelon.rayworker.v1.Ended.$Properties instead.
             */
            interface IEnded extends echelon.rayworker.v1.Ended.$Properties {
            }

            /** Represents an Ended. */
            class Ended {

                /**
                 * Constructs a new Ended.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.rayworker.v1.Ended.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Ended cause. */
                cause: echelon.rayworker.v1.Ended.Cause;

                /** Ended exitCode. */
                exitCode: number;

                /** Ended signal. */
                signal: number;

                /** Ended message. */
                message: string;

                /** Ended lastLines. */
                lastLines: string[];

                /**
                 * Encodes the specified Ended message. Does not implicitly {@link echelon.rayworker.v1.Ended.verify|verify} messages.
                 * @param message Ended message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.rayworker.v1.Ended.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an Ended message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.rayworker.v1.Ended & echelon.rayworker.v1.Ended.$Shape} Ended
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.rayworker.v1.Ended & echelon.rayworker.v1.Ended.$Shape;
            }

            namespace Ended {

                /** Properties of an Ended. */
                interface $Properties {

                    /** Ended cause */
                    cause?: (echelon.rayworker.v1.Ended.Cause|null);

                    /** Ended exitCode */
                    exitCode?: (number|null);

                    /** Ended signal */
                    signal?: (number|null);

                    /** Ended message */
                    message?: (string|null);

                    /** Ended lastLines */
                    lastLines?: (string[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an Ended. */
                type $Shape = echelon.rayworker.v1.Ended.$Properties;

                /** Cause enum. */
                enum Cause {

                    /** CAUSE_UNSPECIFIED value */
                    CAUSE_UNSPECIFIED = 0,

                    /** SUCCEEDED value */
                    SUCCEEDED = 1,

                    /** FAILED value */
                    FAILED = 2,

                    /** STOPPED value */
                    STOPPED = 3,

                    /** KILLED value */
                    KILLED = 4,

                    /** OUT_OF_MEMORY value */
                    OUT_OF_MEMORY = 5,

                    /** SUPERVISOR_LOST value */
                    SUPERVISOR_LOST = 6,

                    /** NOT_STARTED value */
                    NOT_STARTED = 7,

                    /** NODE_LOST value */
                    NODE_LOST = 8,

                    /** CLUSTER_FAILED value */
                    CLUSTER_FAILED = 9,

                    /** GPUS_SHORT value */
                    GPUS_SHORT = 10
                }
            }
        }
    }
}

/** Namespace grpc. */
export namespace grpc {

    /** Namespace health. */
    namespace health {

        /** Namespace v1. */
        namespace v1 {

            /**
             * Properties of a HealthCheckRequest.
             * @deprecated Use grpc.health.v1.HealthCheckRequest.$Properties instead.
             */
            interface IHealthCheckRequest extends grpc.health.v1.HealthCheckRequest.$Properties {
            }

            /** Represents a HealthCheckRequest. */
            class HealthCheckRequest {

                /**
                 * Constructs a new HealthCheckRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: grpc.health.v1.HealthCheckRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** HealthCheckRequest service. */
                service: string;

                /**
                 * Encodes the specified HealthCheckRequest message. Does not implicitly {@link grpc.health.v1.HealthCheckRequest.verify|verify} messages.
                 * @param message HealthCheckRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: grpc.health.v1.HealthCheckRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a HealthCheckRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {grpc.health.v1.HealthCheckRequest & grpc.health.v1.HealthCheckRequest.$Shape} HealthCheckRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): grpc.health.v1.HealthCheckRequest & grpc.health.v1.HealthCheckRequest.$Shape;
            }

            namespace HealthCheckRequest {

                /** Properties of a HealthCheckRequest. */
                interface $Properties {

                    /** HealthCheckRequest service */
                    service?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a HealthCheckRequest. */
                type $Shape = grpc.health.v1.HealthCheckRequest.$Properties;
            }

            /**
             * Properties of a HealthCheckResponse.
             * @deprecated Use grpc.health.v1.HealthCheckResponse.$Properties instead.
             */
            interface IHealthCheckResponse extends grpc.health.v1.HealthCheckResponse.$Properties {
            }

            /** Represents a HealthCheckResponse. */
            class HealthCheckResponse {

                /**
                 * Constructs a new HealthCheckResponse.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: grpc.health.v1.HealthCheckResponse.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** HealthCheckResponse status. */
                status: grpc.health.v1.HealthCheckResponse.ServingStatus;

                /**
                 * Encodes the specified HealthCheckResponse message. Does not implicitly {@link grpc.health.v1.HealthCheckResponse.verify|verify} messages.
                 * @param message HealthCheckResponse message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: grpc.health.v1.HealthCheckResponse.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a HealthCheckResponse message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {grpc.health.v1.HealthCheckResponse & grpc.health.v1.HealthCheckResponse.$Shape} HealthCheckResponse
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): grpc.health.v1.HealthCheckResponse & grpc.health.v1.HealthCheckResponse.$Shape;
            }

            namespace HealthCheckResponse {

                /** Properties of a HealthCheckResponse. */
                interface $Properties {

                    /** HealthCheckResponse status */
                    status?: (grpc.health.v1.HealthCheckResponse.ServingStatus|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a HealthCheckResponse. */
                type $Shape = grpc.health.v1.HealthCheckResponse.$Properties;

                /** ServingStatus enum. */
                enum ServingStatus {

                    /** UNKNOWN value */
                    UNKNOWN = 0,

                    /** SERVING value */
                    SERVING = 1,

                    /** NOT_SERVING value */
                    NOT_SERVING = 2,

                    /** SERVICE_UNKNOWN value */
                    SERVICE_UNKNOWN = 3
                }
            }
        }
    }
}
