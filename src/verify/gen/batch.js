/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["batch"] || ($protobuf.roots["batch"] = {});

export const echelon = $root.echelon = (() => {

    const echelon = {};

    echelon.batch = (function() {

        const batch = {};

        batch.v1 = (function() {

            const v1 = {};

            v1.AdvantageBatch = (function() {

                const AdvantageBatch = function (properties) {
                    this.groupNames = [];
                    this.trajectoryNames = [];
                    this.observationTexts = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                AdvantageBatch.prototype.format = "";
                AdvantageBatch.prototype.name = "";
                AdvantageBatch.prototype.provenance = null;
                AdvantageBatch.prototype.estimator = null;
                AdvantageBatch.prototype.rows = 0;
                AdvantageBatch.prototype.group = $util.newBuffer([]);
                AdvantageBatch.prototype.groupNames = $util.emptyArray;
                AdvantageBatch.prototype.trajectory = $util.newBuffer([]);
                AdvantageBatch.prototype.trajectoryNames = $util.emptyArray;
                AdvantageBatch.prototype.step = $util.newBuffer([]);
                AdvantageBatch.prototype.observation = $util.newBuffer([]);
                AdvantageBatch.prototype.observationDigests = $util.newBuffer([]);
                AdvantageBatch.prototype.observationTexts = $util.emptyArray;
                AdvantageBatch.prototype.reward = $util.newBuffer([]);
                AdvantageBatch.prototype.actionValid = $util.newBuffer([]);
                AdvantageBatch.prototype.tokenLevelRewardSum = $util.newBuffer([]);
                AdvantageBatch.prototype.responseLength = $util.newBuffer([]);
                AdvantageBatch.prototype.reportedStepReward = $util.newBuffer([]);
                AdvantageBatch.prototype.reportedAdvantage = $util.newBuffer([]);

                AdvantageBatch.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.format != null && $Object.hasOwnProperty.call(message, "format") && message.format !== "")
                        writer.uint32(10).string(message.format);
                    if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                        writer.uint32(18).string(message.name);
                    if (message.provenance != null && $Object.hasOwnProperty.call(message, "provenance"))
                        $root.echelon.batch.v1.Provenance.encode(message.provenance, writer.uint32(26).fork(), _depth + 1).ldelim();
                    if (message.estimator != null && $Object.hasOwnProperty.call(message, "estimator"))
                        $root.echelon.batch.v1.Estimator.encode(message.estimator, writer.uint32(34).fork(), _depth + 1).ldelim();
                    if (message.rows != null && $Object.hasOwnProperty.call(message, "rows") && message.rows !== 0)
                        writer.uint32(40).uint32(message.rows);
                    if (message.group != null && $Object.hasOwnProperty.call(message, "group") && message.group.length)
                        writer.uint32(50).bytes(message.group);
                    if (message.groupNames != null && message.groupNames.length)
                        for (let i = 0; i < message.groupNames.length; ++i)
                            writer.uint32(58).string(message.groupNames[i]);
                    if (message.trajectory != null && $Object.hasOwnProperty.call(message, "trajectory") && message.trajectory.length)
                        writer.uint32(66).bytes(message.trajectory);
                    if (message.trajectoryNames != null && message.trajectoryNames.length)
                        for (let i = 0; i < message.trajectoryNames.length; ++i)
                            writer.uint32(74).string(message.trajectoryNames[i]);
                    if (message.step != null && $Object.hasOwnProperty.call(message, "step") && message.step.length)
                        writer.uint32(82).bytes(message.step);
                    if (message.observation != null && $Object.hasOwnProperty.call(message, "observation") && message.observation.length)
                        writer.uint32(90).bytes(message.observation);
                    if (message.observationDigests != null && $Object.hasOwnProperty.call(message, "observationDigests") && message.observationDigests.length)
                        writer.uint32(98).bytes(message.observationDigests);
                    if (message.observationTexts != null && message.observationTexts.length)
                        for (let i = 0; i < message.observationTexts.length; ++i)
                            writer.uint32(106).string(message.observationTexts[i]);
                    if (message.reward != null && $Object.hasOwnProperty.call(message, "reward") && message.reward.length)
                        writer.uint32(114).bytes(message.reward);
                    if (message.actionValid != null && $Object.hasOwnProperty.call(message, "actionValid") && message.actionValid.length)
                        writer.uint32(122).bytes(message.actionValid);
                    if (message.tokenLevelRewardSum != null && $Object.hasOwnProperty.call(message, "tokenLevelRewardSum") && message.tokenLevelRewardSum.length)
                        writer.uint32(130).bytes(message.tokenLevelRewardSum);
                    if (message.responseLength != null && $Object.hasOwnProperty.call(message, "responseLength") && message.responseLength.length)
                        writer.uint32(138).bytes(message.responseLength);
                    if (message.reportedStepReward != null && $Object.hasOwnProperty.call(message, "reportedStepReward") && message.reportedStepReward.length)
                        writer.uint32(146).bytes(message.reportedStepReward);
                    if (message.reportedAdvantage != null && $Object.hasOwnProperty.call(message, "reportedAdvantage") && message.reportedAdvantage.length)
                        writer.uint32(154).bytes(message.reportedAdvantage);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                AdvantageBatch.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.batch.v1.AdvantageBatch();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.format = value;
                                else
                                    delete message.format;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.name = value;
                                else
                                    delete message.name;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                message.provenance = $root.echelon.batch.v1.Provenance.decode(reader, reader.size(), $undefined, _depth + 1, message.provenance);
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                message.estimator = $root.echelon.batch.v1.Estimator.decode(reader, reader.size(), $undefined, _depth + 1, message.estimator);
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.rows = value;
                                else
                                    delete message.rows;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.group = value;
                                else
                                    delete message.group;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.groupNames && message.groupNames.length))
                                    message.groupNames = [];
                                message.groupNames.push(reader.stringVerify());
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.trajectory = value;
                                else
                                    delete message.trajectory;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.trajectoryNames && message.trajectoryNames.length))
                                    message.trajectoryNames = [];
                                message.trajectoryNames.push(reader.stringVerify());
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.step = value;
                                else
                                    delete message.step;
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.observation = value;
                                else
                                    delete message.observation;
                                continue;
                            }
                        case 12: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.observationDigests = value;
                                else
                                    delete message.observationDigests;
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.observationTexts && message.observationTexts.length))
                                    message.observationTexts = [];
                                message.observationTexts.push(reader.stringVerify());
                                continue;
                            }
                        case 14: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.reward = value;
                                else
                                    delete message.reward;
                                continue;
                            }
                        case 15: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.actionValid = value;
                                else
                                    delete message.actionValid;
                                continue;
                            }
                        case 16: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.tokenLevelRewardSum = value;
                                else
                                    delete message.tokenLevelRewardSum;
                                continue;
                            }
                        case 17: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.responseLength = value;
                                else
                                    delete message.responseLength;
                                continue;
                            }
                        case 18: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.reportedStepReward = value;
                                else
                                    delete message.reportedStepReward;
                                continue;
                            }
                        case 19: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.reportedAdvantage = value;
                                else
                                    delete message.reportedAdvantage;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return AdvantageBatch;
            })();

            v1.Provenance = (function() {

                const Provenance = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Provenance.prototype.experiment = "";
                Provenance.prototype.attempt = 0;
                Provenance.prototype.trainingStep = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Provenance.prototype.groupSize = 0;
                Provenance.prototype.groups = 0;
                Provenance.prototype.rowsCollected = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Provenance.prototype.producer = "";

                Provenance.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.experiment != null && $Object.hasOwnProperty.call(message, "experiment") && message.experiment !== "")
                        writer.uint32(10).string(message.experiment);
                    if (message.attempt != null && $Object.hasOwnProperty.call(message, "attempt") && message.attempt !== 0)
                        writer.uint32(16).uint32(message.attempt);
                    if (message.trainingStep != null && $Object.hasOwnProperty.call(message, "trainingStep") && (typeof message.trainingStep === "object" ? message.trainingStep.low || message.trainingStep.high : message.trainingStep !== 0))
                        writer.uint32(24).uint64(message.trainingStep);
                    if (message.groupSize != null && $Object.hasOwnProperty.call(message, "groupSize") && message.groupSize !== 0)
                        writer.uint32(32).uint32(message.groupSize);
                    if (message.groups != null && $Object.hasOwnProperty.call(message, "groups") && message.groups !== 0)
                        writer.uint32(40).uint32(message.groups);
                    if (message.rowsCollected != null && $Object.hasOwnProperty.call(message, "rowsCollected") && (typeof message.rowsCollected === "object" ? message.rowsCollected.low || message.rowsCollected.high : message.rowsCollected !== 0))
                        writer.uint32(48).uint64(message.rowsCollected);
                    if (message.producer != null && $Object.hasOwnProperty.call(message, "producer") && message.producer !== "")
                        writer.uint32(58).string(message.producer);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Provenance.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.batch.v1.Provenance();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.experiment = value;
                                else
                                    delete message.experiment;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.attempt = value;
                                else
                                    delete message.attempt;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.trainingStep = value;
                                else
                                    delete message.trainingStep;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.groupSize = value;
                                else
                                    delete message.groupSize;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.groups = value;
                                else
                                    delete message.groups;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.rowsCollected = value;
                                else
                                    delete message.rowsCollected;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.producer = value;
                                else
                                    delete message.producer;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Provenance;
            })();

            v1.Estimator = (function() {

                const Estimator = function (properties) {
                    this.parameters = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Estimator.prototype.name = "";
                Estimator.prototype.historyLength = 0;
                Estimator.prototype.mode = "";
                Estimator.prototype.lengthWeightAlpha = 0;
                Estimator.prototype.baseGroup = false;
                Estimator.prototype.stepAdvantageWeight = 0;
                Estimator.prototype.normalizeByStd = false;
                Estimator.prototype.gamma = 0;
                Estimator.prototype.invalidActionPenalty = 0;
                Estimator.prototype.epsilon = 0;
                Estimator.prototype.deviation = "";
                Estimator.prototype.precision = "";
                Estimator.prototype.statistics = "";
                Estimator.prototype.forms = "";
                Estimator.prototype.parameters = $util.emptyArray;

                Estimator.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                        writer.uint32(10).string(message.name);
                    if (message.historyLength != null && $Object.hasOwnProperty.call(message, "historyLength") && message.historyLength !== 0)
                        writer.uint32(16).uint32(message.historyLength);
                    if (message.mode != null && $Object.hasOwnProperty.call(message, "mode") && message.mode !== "")
                        writer.uint32(26).string(message.mode);
                    if (message.lengthWeightAlpha != null && $Object.hasOwnProperty.call(message, "lengthWeightAlpha") && !$Object.is(message.lengthWeightAlpha, 0))
                        writer.uint32(33).double(message.lengthWeightAlpha);
                    if (message.baseGroup != null && $Object.hasOwnProperty.call(message, "baseGroup") && message.baseGroup !== false)
                        writer.uint32(40).bool(message.baseGroup);
                    if (message.stepAdvantageWeight != null && $Object.hasOwnProperty.call(message, "stepAdvantageWeight") && !$Object.is(message.stepAdvantageWeight, 0))
                        writer.uint32(49).double(message.stepAdvantageWeight);
                    if (message.normalizeByStd != null && $Object.hasOwnProperty.call(message, "normalizeByStd") && message.normalizeByStd !== false)
                        writer.uint32(56).bool(message.normalizeByStd);
                    if (message.gamma != null && $Object.hasOwnProperty.call(message, "gamma") && !$Object.is(message.gamma, 0))
                        writer.uint32(65).double(message.gamma);
                    if (message.invalidActionPenalty != null && $Object.hasOwnProperty.call(message, "invalidActionPenalty") && !$Object.is(message.invalidActionPenalty, 0))
                        writer.uint32(73).double(message.invalidActionPenalty);
                    if (message.epsilon != null && $Object.hasOwnProperty.call(message, "epsilon") && !$Object.is(message.epsilon, 0))
                        writer.uint32(81).double(message.epsilon);
                    if (message.deviation != null && $Object.hasOwnProperty.call(message, "deviation") && message.deviation !== "")
                        writer.uint32(90).string(message.deviation);
                    if (message.precision != null && $Object.hasOwnProperty.call(message, "precision") && message.precision !== "")
                        writer.uint32(98).string(message.precision);
                    if (message.statistics != null && $Object.hasOwnProperty.call(message, "statistics") && message.statistics !== "")
                        writer.uint32(106).string(message.statistics);
                    if (message.forms != null && $Object.hasOwnProperty.call(message, "forms") && message.forms !== "")
                        writer.uint32(114).string(message.forms);
                    if (message.parameters != null && message.parameters.length)
                        for (let i = 0; i < message.parameters.length; ++i)
                            $root.echelon.batch.v1.Parameter.encode(message.parameters[i], writer.uint32(122).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Estimator.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.batch.v1.Estimator();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.name = value;
                                else
                                    delete message.name;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.historyLength = value;
                                else
                                    delete message.historyLength;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.mode = value;
                                else
                                    delete message.mode;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.lengthWeightAlpha = value;
                                else
                                    delete message.lengthWeightAlpha;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.baseGroup = value;
                                else
                                    delete message.baseGroup;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.stepAdvantageWeight = value;
                                else
                                    delete message.stepAdvantageWeight;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.normalizeByStd = value;
                                else
                                    delete message.normalizeByStd;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.gamma = value;
                                else
                                    delete message.gamma;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.invalidActionPenalty = value;
                                else
                                    delete message.invalidActionPenalty;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.epsilon = value;
                                else
                                    delete message.epsilon;
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.deviation = value;
                                else
                                    delete message.deviation;
                                continue;
                            }
                        case 12: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.precision = value;
                                else
                                    delete message.precision;
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.statistics = value;
                                else
                                    delete message.statistics;
                                continue;
                            }
                        case 14: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.forms = value;
                                else
                                    delete message.forms;
                                continue;
                            }
                        case 15: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.parameters && message.parameters.length))
                                    message.parameters = [];
                                message.parameters.push($root.echelon.batch.v1.Parameter.decode(reader, reader.size(), $undefined, _depth + 1));
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Estimator;
            })();

            v1.Parameter = (function() {

                const Parameter = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Parameter.prototype.name = "";
                Parameter.prototype.number = null;
                Parameter.prototype.flag = null;
                Parameter.prototype.text = null;

                let $oneOfFields;

                $Object.defineProperty(Parameter.prototype, "value", {
                    get: $util.oneOfGetter($oneOfFields = ["number", "flag", "text"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                Parameter.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                        writer.uint32(10).string(message.name);
                    if (message.number != null && $Object.hasOwnProperty.call(message, "number"))
                        writer.uint32(17).double(message.number);
                    if (message.flag != null && $Object.hasOwnProperty.call(message, "flag"))
                        writer.uint32(24).bool(message.flag);
                    if (message.text != null && $Object.hasOwnProperty.call(message, "text"))
                        writer.uint32(34).string(message.text);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Parameter.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.batch.v1.Parameter();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        let wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.name = value;
                                else
                                    delete message.name;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 1)
                                    break;
                                message.number = reader.double();
                                message.value = "number";
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                message.flag = reader.bool();
                                message.value = "flag";
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                message.text = reader.stringVerify();
                                message.value = "text";
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Parameter;
            })();

            return v1;
        })();

        return batch;
    })();

    return echelon;
})();

export {
  $root as default
};
