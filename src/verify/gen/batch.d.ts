import * as $protobuf from "protobufjs/minimal.js";
import Long = require("long");

/** Namespace echelon. */
export namespace echelon {

    /** Namespace batch. */
    namespace batch {

        /** Namespace v1. */
        namespace v1 {

            /**
             * Properties of an AdvantageBatch.
             * @deprecated Use echelon.batch.v1.AdvantageBatch.$Properties instead.
             */
            interface IAdvantageBatch extends echelon.batch.v1.AdvantageBatch.$Properties {
            }

            /** Represents an AdvantageBatch. */
            class AdvantageBatch {

                /**
                 * Constructs a new AdvantageBatch.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.batch.v1.AdvantageBatch.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** AdvantageBatch format. */
                format: string;

                /** AdvantageBatch name. */
                name: string;

                /** AdvantageBatch provenance. */
                provenance?: (echelon.batch.v1.Provenance.$Properties|null);

                /** AdvantageBatch estimator. */
                estimator?: (echelon.batch.v1.Estimator.$Properties|null);

                /** AdvantageBatch rows. */
                rows: number;

                /** AdvantageBatch group. */
                group: Uint8Array;

                /** AdvantageBatch groupNames. */
                groupNames: string[];

                /** AdvantageBatch trajectory. */
                trajectory: Uint8Array;

                /** AdvantageBatch trajectoryNames. */
                trajectoryNames: string[];

                /** AdvantageBatch step. */
                step: Uint8Array;

                /** AdvantageBatch observation. */
                observation: Uint8Array;

                /** AdvantageBatch observationDigests. */
                observationDigests: Uint8Array;

                /** AdvantageBatch observationTexts. */
                observationTexts: string[];

                /** AdvantageBatch reward. */
                reward: Uint8Array;

                /** AdvantageBatch actionValid. */
                actionValid: Uint8Array;

                /** AdvantageBatch tokenLevelRewardSum. */
                tokenLevelRewardSum: Uint8Array;

                /** AdvantageBatch responseLength. */
                responseLength: Uint8Array;

                /** AdvantageBatch reportedStepReward. */
                reportedStepReward: Uint8Array;

                /** AdvantageBatch reportedAdvantage. */
                reportedAdvantage: Uint8Array;

                /**
                 * Encodes the specified AdvantageBatch message. Does not implicitly {@link echelon.batch.v1.AdvantageBatch.verify|verify} messages.
                 * @param message AdvantageBatch message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.batch.v1.AdvantageBatch.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an AdvantageBatch message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.batch.v1.AdvantageBatch & echelon.batch.v1.AdvantageBatch.$Shape} AdvantageBatch
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.batch.v1.AdvantageBatch & echelon.batch.v1.AdvantageBatch.$Shape;
            }

            namespace AdvantageBatch {

                /** Properties of an AdvantageBatch. */
                interface $Properties {

                    /** AdvantageBatch format */
                    format?: (string|null);

                    /** AdvantageBatch name */
                    name?: (string|null);

                    /** AdvantageBatch provenance */
                    provenance?: (echelon.batch.v1.Provenance.$Properties|null);

                    /** AdvantageBatch estimator */
                    estimator?: (echelon.batch.v1.Estimator.$Properties|null);

                    /** AdvantageBatch rows */
                    rows?: (number|null);

                    /** AdvantageBatch group */
                    group?: (Uint8Array|null);

                    /** AdvantageBatch groupNames */
                    groupNames?: (string[]|null);

                    /** AdvantageBatch trajectory */
                    trajectory?: (Uint8Array|null);

                    /** AdvantageBatch trajectoryNames */
                    trajectoryNames?: (string[]|null);

                    /** AdvantageBatch step */
                    step?: (Uint8Array|null);

                    /** AdvantageBatch observation */
                    observation?: (Uint8Array|null);

                    /** AdvantageBatch observationDigests */
                    observationDigests?: (Uint8Array|null);

                    /** AdvantageBatch observationTexts */
                    observationTexts?: (string[]|null);

                    /** AdvantageBatch reward */
                    reward?: (Uint8Array|null);

                    /** AdvantageBatch actionValid */
                    actionValid?: (Uint8Array|null);

                    /** AdvantageBatch tokenLevelRewardSum */
                    tokenLevelRewardSum?: (Uint8Array|null);

                    /** AdvantageBatch responseLength */
                    responseLength?: (Uint8Array|null);

                    /** AdvantageBatch reportedStepReward */
                    reportedStepReward?: (Uint8Array|null);

                    /** AdvantageBatch reportedAdvantage */
                    reportedAdvantage?: (Uint8Array|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an AdvantageBatch. */
                type $Shape = {
                  format?: string|null;
                  name?: string|null;
                  provenance?: echelon.batch.v1.Provenance.$Shape|null;
                  estimator?: echelon.batch.v1.Estimator.$Shape|null;
                  rows?: number|null;
                  group?: Uint8Array|null;
                  groupNames?: string[]|null;
                  trajectory?: Uint8Array|null;
                  trajectoryNames?: string[]|null;
                  step?: Uint8Array|null;
                  observation?: Uint8Array|null;
                  observationDigests?: Uint8Array|null;
                  observationTexts?: string[]|null;
                  reward?: Uint8Array|null;
                  actionValid?: Uint8Array|null;
                  tokenLevelRewardSum?: Uint8Array|null;
                  responseLength?: Uint8Array|null;
                  reportedStepReward?: Uint8Array|null;
                  reportedAdvantage?: Uint8Array|null;
                  $unknowns?: Uint8Array[];
                };
            }

            /**
             * Properties of a Provenance.
             * @deprecated Use echelon.batch.v1.Provenance.$Properties instead.
             */
            interface IProvenance extends echelon.batch.v1.Provenance.$Properties {
            }

            /** Represents a Provenance. */
            class Provenance {

                /**
                 * Constructs a new Provenance.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.batch.v1.Provenance.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Provenance experiment. */
                experiment: string;

                /** Provenance attempt. */
                attempt: number;

                /** Provenance trainingStep. */
                trainingStep: number;

                /** Provenance groupSize. */
                groupSize: number;

                /** Provenance groups. */
                groups: number;

                /** Provenance rowsCollected. */
                rowsCollected: number;

                /** Provenance producer. */
                producer: string;

                /**
                 * Encodes the specified Provenance message. Does not implicitly {@link echelon.batch.v1.Provenance.verify|verify} messages.
                 * @param message Provenance message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.batch.v1.Provenance.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Provenance message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.batch.v1.Provenance & echelon.batch.v1.Provenance.$Shape} Provenance
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.batch.v1.Provenance & echelon.batch.v1.Provenance.$Shape;
            }

            namespace Provenance {

                /** Properties of a Provenance. */
                interface $Properties {

                    /** Provenance experiment */
                    experiment?: (string|null);

                    /** Provenance attempt */
                    attempt?: (number|null);

                    /** Provenance trainingStep */
                    trainingStep?: (number|null);

                    /** Provenance groupSize */
                    groupSize?: (number|null);

                    /** Provenance groups */
                    groups?: (number|null);

                    /** Provenance rowsCollected */
                    rowsCollected?: (number|null);

                    /** Provenance producer */
                    producer?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Provenance. */
                type $Shape = echelon.batch.v1.Provenance.$Properties;
            }

            /**
             * Properties of an Estimator.
             * @deprecated Use echelon.batch.v1.Estimator.$Properties instead.
             */
            interface IEstimator extends echelon.batch.v1.Estimator.$Properties {
            }

            /** Represents an Estimator. */
            class Estimator {

                /**
                 * Constructs a new Estimator.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.batch.v1.Estimator.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Estimator name. */
                name: string;

                /** Estimator historyLength. */
                historyLength: number;

                /** Estimator mode. */
                mode: string;

                /** Estimator lengthWeightAlpha. */
                lengthWeightAlpha: number;

                /** Estimator baseGroup. */
                baseGroup: boolean;

                /** Estimator stepAdvantageWeight. */
                stepAdvantageWeight: number;

                /** Estimator normalizeByStd. */
                normalizeByStd: boolean;

                /** Estimator gamma. */
                gamma: number;

                /** Estimator invalidActionPenalty. */
                invalidActionPenalty: number;

                /** Estimator epsilon. */
                epsilon: number;

                /** Estimator deviation. */
                deviation: string;

                /** Estimator precision. */
                precision: string;

                /** Estimator statistics. */
                statistics: string;

                /** Estimator forms. */
                forms: string;

                /** Estimator parameters. */
                parameters: echelon.batch.v1.Parameter.$Properties[];

                /**
                 * Encodes the specified Estimator message. Does not implicitly {@link echelon.batch.v1.Estimator.verify|verify} messages.
                 * @param message Estimator message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.batch.v1.Estimator.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an Estimator message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.batch.v1.Estimator & echelon.batch.v1.Estimator.$Shape} Estimator
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.batch.v1.Estimator & echelon.batch.v1.Estimator.$Shape;
            }

            namespace Estimator {

                /** Properties of an Estimator. */
                interface $Properties {

                    /** Estimator name */
                    name?: (string|null);

                    /** Estimator historyLength */
                    historyLength?: (number|null);

                    /** Estimator mode */
                    mode?: (string|null);

                    /** Estimator lengthWeightAlpha */
                    lengthWeightAlpha?: (number|null);

                    /** Estimator baseGroup */
                    baseGroup?: (boolean|null);

                    /** Estimator stepAdvantageWeight */
                    stepAdvantageWeight?: (number|null);

                    /** Estimator normalizeByStd */
                    normalizeByStd?: (boolean|null);

                    /** Estimator gamma */
                    gamma?: (number|null);

                    /** Estimator invalidActionPenalty */
                    invalidActionPenalty?: (number|null);

                    /** Estimator epsilon */
                    epsilon?: (number|null);

                    /** Estimator deviation */
                    deviation?: (string|null);

                    /** Estimator precision */
                    precision?: (string|null);

                    /** Estimator statistics */
                    statistics?: (string|null);

                    /** Estimator forms */
                    forms?: (string|null);

                    /** Estimator parameters */
                    parameters?: (echelon.batch.v1.Parameter.$Properties[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an Estimator. */
                type $Shape = {
                  name?: string|null;
                  historyLength?: number|null;
                  mode?: string|null;
                  lengthWeightAlpha?: number|null;
                  baseGroup?: boolean|null;
                  stepAdvantageWeight?: number|null;
                  normalizeByStd?: boolean|null;
                  gamma?: number|null;
                  invalidActionPenalty?: number|null;
                  epsilon?: number|null;
                  deviation?: string|null;
                  precision?: string|null;
                  statistics?: string|null;
                  forms?: string|null;
                  parameters?: echelon.batch.v1.Parameter.$Shape[]|null;
                  $unknowns?: Uint8Array[];
                };
            }

            /**
             * Properties of a Parameter.
             * @deprecated Use echelon.batch.v1.Parameter.$Properties instead.
             */
            interface IParameter extends echelon.batch.v1.Parameter.$Properties {
            }

            /** Represents a Parameter. */
            class Parameter {

                /**
                 * Constructs a new Parameter.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: echelon.batch.v1.Parameter.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Parameter name. */
                name: string;

                /** Parameter number. */
                number?: (number|null);

                /** Parameter flag. */
                flag?: (boolean|null);

                /** Parameter text. */
                text?: (string|null);

                /** Parameter value. */
                value?: ("number"|"flag"|"text");

                /**
                 * Encodes the specified Parameter message. Does not implicitly {@link echelon.batch.v1.Parameter.verify|verify} messages.
                 * @param message Parameter message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: echelon.batch.v1.Parameter.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Parameter message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {echelon.batch.v1.Parameter & echelon.batch.v1.Parameter.$Shape} Parameter
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): echelon.batch.v1.Parameter & echelon.batch.v1.Parameter.$Shape;
            }

            namespace Parameter {

                /** Properties of a Parameter. */
                interface $Properties {

                    /** Parameter name */
                    name?: (string|null);

                    /** Parameter number */
                    number?: (number|null);

                    /** Parameter flag */
                    flag?: (boolean|null);

                    /** Parameter text */
                    text?: (string|null);

                    /** Parameter value */
                    value?: ("number"|"flag"|"text");

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Narrowed shape of a Parameter. */
                type $Shape = {
                  name?: string|null;
                  number?: number|null;
                  flag?: boolean|null;
                  text?: string|null;
                  $unknowns?: Uint8Array[];
                } & (
                  ({ value?: undefined; number?: null; flag?: null; text?: null }|{ value?: "number"; number: number; flag?: null; text?: null }|{ value?: "flag"; number?: null; flag: boolean; text?: null }|{ value?: "text"; number?: null; flag?: null; text: string })
                );
            }
        }
    }
}
