/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["ray-worker"] || ($protobuf.roots["ray-worker"] = {});

export const echelon = $root.echelon = (() => {

    const echelon = {};

    echelon.rayworker = (function() {

        const rayworker = {};

        rayworker.v1 = (function() {

            const v1 = {};

            v1.DescribeRequest = (function() {

                const DescribeRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                DescribeRequest.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                DescribeRequest.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.rayworker.v1.DescribeRequest();
                    while (reader.pos < end) {
                        let start = reader.pos;
                        let tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        reader.skipType(tag & 7, _depth, tag);
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

                return DescribeRequest;
            })();

            v1.DescribeResponse = (function() {

                const DescribeResponse = function (properties) {
                    this.nodes = [];
                    this.engines = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                DescribeResponse.prototype.version = "";
                DescribeResponse.prototype.generation = "";
                DescribeResponse.prototype.rayVersion = "";
                DescribeResponse.prototype.pythonVersion = "";
                DescribeResponse.prototype.nodeId = "";
                DescribeResponse.prototype.sharedRoot = "";
                DescribeResponse.prototype.nodes = $util.emptyArray;
                DescribeResponse.prototype.engines = $util.emptyArray;
                DescribeResponse.prototype.freeDiskBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                DescribeResponse.prototype.startedAtUnixMs = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

                DescribeResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.version != null && $Object.hasOwnProperty.call(message, "version") && message.version !== "")
                        writer.uint32(10).string(message.version);
                    if (message.generation != null && $Object.hasOwnProperty.call(message, "generation") && message.generation !== "")
                        writer.uint32(18).string(message.generation);
                    if (message.rayVersion != null && $Object.hasOwnProperty.call(message, "rayVersion") && message.rayVersion !== "")
                        writer.uint32(26).string(message.rayVersion);
                    if (message.pythonVersion != null && $Object.hasOwnProperty.call(message, "pythonVersion") && message.pythonVersion !== "")
                        writer.uint32(34).string(message.pythonVersion);
                    if (message.nodeId != null && $Object.hasOwnProperty.call(message, "nodeId") && message.nodeId !== "")
                        writer.uint32(42).string(message.nodeId);
                    if (message.sharedRoot != null && $Object.hasOwnProperty.call(message, "sharedRoot") && message.sharedRoot !== "")
                        writer.uint32(50).string(message.sharedRoot);
                    if (message.nodes != null && message.nodes.length)
                        for (let i = 0; i < message.nodes.length; ++i)
                            $root.echelon.rayworker.v1.Node.encode(message.nodes[i], writer.uint32(58).fork(), _depth + 1).ldelim();
                    if (message.engines != null && message.engines.length)
                        for (let i = 0; i < message.engines.length; ++i)
                            writer.uint32(66).string(message.engines[i]);
                    if (message.freeDiskBytes != null && $Object.hasOwnProperty.call(message, "freeDiskBytes") && (typeof message.freeDiskBytes === "object" ? message.freeDiskBytes.low || message.freeDiskBytes.high : message.freeDiskBytes !== 0))
                        writer.uint32(72).uint64(message.freeDiskBytes);
                    if (message.startedAtUnixMs != null && $Object.hasOwnProperty.call(message, "startedAtUnixMs") && (typeof message.startedAtUnixMs === "object" ? message.startedAtUnixMs.low || message.startedAtUnixMs.high : message.startedAtUnixMs !== 0))
                        writer.uint32(80).int64(message.startedAtUnixMs);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                DescribeResponse.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.DescribeResponse();
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
                                    message.version = value;
                                else
                                    delete message.version;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.generation = value;
                                else
                                    delete message.generation;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.rayVersion = value;
                                else
                                    delete message.rayVersion;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.pythonVersion = value;
                                else
                                    delete message.pythonVersion;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.nodeId = value;
                                else
                                    delete message.nodeId;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.sharedRoot = value;
                                else
                                    delete message.sharedRoot;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.nodes && message.nodes.length))
                                    message.nodes = [];
                                message.nodes.push($root.echelon.rayworker.v1.Node.decode(reader, reader.size(), $undefined, _depth + 1));
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.engines && message.engines.length))
                                    message.engines = [];
                                message.engines.push(reader.stringVerify());
                                continue;
                            }
                        case 9: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.freeDiskBytes = value;
                                else
                                    delete message.freeDiskBytes;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.startedAtUnixMs = value;
                                else
                                    delete message.startedAtUnixMs;
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

                return DescribeResponse;
            })();

            v1.Node = (function() {

                const Node = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Node.prototype.id = "";
                Node.prototype.address = "";
                Node.prototype.alive = false;
                Node.prototype.cpusTotal = 0;
                Node.prototype.gpusTotal = 0;
                Node.prototype.cpusAvailable = 0;
                Node.prototype.gpusAvailable = 0;

                Node.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                        writer.uint32(10).string(message.id);
                    if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                        writer.uint32(18).string(message.address);
                    if (message.alive != null && $Object.hasOwnProperty.call(message, "alive") && message.alive !== false)
                        writer.uint32(24).bool(message.alive);
                    if (message.cpusTotal != null && $Object.hasOwnProperty.call(message, "cpusTotal") && !$Object.is(message.cpusTotal, 0))
                        writer.uint32(33).double(message.cpusTotal);
                    if (message.gpusTotal != null && $Object.hasOwnProperty.call(message, "gpusTotal") && !$Object.is(message.gpusTotal, 0))
                        writer.uint32(41).double(message.gpusTotal);
                    if (message.cpusAvailable != null && $Object.hasOwnProperty.call(message, "cpusAvailable") && !$Object.is(message.cpusAvailable, 0))
                        writer.uint32(49).double(message.cpusAvailable);
                    if (message.gpusAvailable != null && $Object.hasOwnProperty.call(message, "gpusAvailable") && !$Object.is(message.gpusAvailable, 0))
                        writer.uint32(57).double(message.gpusAvailable);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Node.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.Node();
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
                                    message.id = value;
                                else
                                    delete message.id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.address = value;
                                else
                                    delete message.address;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.alive = value;
                                else
                                    delete message.alive;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.cpusTotal = value;
                                else
                                    delete message.cpusTotal;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.gpusTotal = value;
                                else
                                    delete message.gpusTotal;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.cpusAvailable = value;
                                else
                                    delete message.cpusAvailable;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.gpusAvailable = value;
                                else
                                    delete message.gpusAvailable;
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

                return Node;
            })();

            v1.LaunchRequest = (function() {

                const LaunchRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                LaunchRequest.prototype.experiment = "";
                LaunchRequest.prototype.attempt = 0;
                LaunchRequest.prototype.plan = null;

                LaunchRequest.encode = function (message, writer, _depth) {
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
                    if (message.plan != null && $Object.hasOwnProperty.call(message, "plan"))
                        $root.echelon.rayworker.v1.LaunchPlan.encode(message.plan, writer.uint32(26).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                LaunchRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.LaunchRequest();
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
                                if (wireType !== 2)
                                    break;
                                message.plan = $root.echelon.rayworker.v1.LaunchPlan.decode(reader, reader.size(), $undefined, _depth + 1, message.plan);
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

                return LaunchRequest;
            })();

            v1.LaunchPlan = (function() {

                const LaunchPlan = function (properties) {
                    this["arguments"] = [];
                    this.environment = {};
                    this.files = {};
                    this.secrets = {};
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                LaunchPlan.prototype.engine = "";
                LaunchPlan.prototype.module = "";
                LaunchPlan.prototype["arguments"] = $util.emptyArray;
                LaunchPlan.prototype.environment = $util.emptyObject;
                LaunchPlan.prototype.gpus = 0;
                LaunchPlan.prototype.cpus = 0;
                LaunchPlan.prototype.gracePeriodMs = 0;
                LaunchPlan.prototype.files = $util.emptyObject;
                LaunchPlan.prototype.logBudgetBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                LaunchPlan.prototype.secrets = $util.emptyObject;

                LaunchPlan.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.engine != null && $Object.hasOwnProperty.call(message, "engine") && message.engine !== "")
                        writer.uint32(10).string(message.engine);
                    if (message.module != null && $Object.hasOwnProperty.call(message, "module") && message.module !== "")
                        writer.uint32(18).string(message.module);
                    if (message["arguments"] != null && message["arguments"].length)
                        for (let i = 0; i < message["arguments"].length; ++i)
                            writer.uint32(26).string(message["arguments"][i]);
                    if (message.environment != null && $Object.hasOwnProperty.call(message, "environment"))
                        for (let keys = $Object.keys(message.environment), i = 0; i < keys.length; ++i)
                            writer.uint32(34).fork().uint32(10).string(keys[i]).uint32(18).string(message.environment[keys[i]]).ldelim();
                    if (message.gpus != null && $Object.hasOwnProperty.call(message, "gpus") && !$Object.is(message.gpus, 0))
                        writer.uint32(41).double(message.gpus);
                    if (message.cpus != null && $Object.hasOwnProperty.call(message, "cpus") && !$Object.is(message.cpus, 0))
                        writer.uint32(49).double(message.cpus);
                    if (message.gracePeriodMs != null && $Object.hasOwnProperty.call(message, "gracePeriodMs") && message.gracePeriodMs !== 0)
                        writer.uint32(56).uint32(message.gracePeriodMs);
                    if (message.files != null && $Object.hasOwnProperty.call(message, "files"))
                        for (let keys = $Object.keys(message.files), i = 0; i < keys.length; ++i)
                            writer.uint32(66).fork().uint32(10).string(keys[i]).uint32(18).bytes(message.files[keys[i]]).ldelim();
                    if (message.logBudgetBytes != null && $Object.hasOwnProperty.call(message, "logBudgetBytes") && (typeof message.logBudgetBytes === "object" ? message.logBudgetBytes.low || message.logBudgetBytes.high : message.logBudgetBytes !== 0))
                        writer.uint32(72).uint64(message.logBudgetBytes);
                    if (message.secrets != null && $Object.hasOwnProperty.call(message, "secrets"))
                        for (let keys = $Object.keys(message.secrets), i = 0; i < keys.length; ++i)
                            writer.uint32(82).fork().uint32(10).string(keys[i]).uint32(18).string(message.secrets[keys[i]]).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                LaunchPlan.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.rayworker.v1.LaunchPlan();
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
                                    message.engine = value;
                                else
                                    delete message.engine;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.module = value;
                                else
                                    delete message.module;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if (!(message["arguments"] && message["arguments"].length))
                                    message["arguments"] = [];
                                message["arguments"].push(reader.stringVerify());
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if (message.environment === $util.emptyObject)
                                    message.environment = {};
                                let end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    let tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.environment, key);
                                message.environment[key] = value;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.gpus = value;
                                else
                                    delete message.gpus;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 1)
                                    break;
                                if (!$Object.is(value = reader.double(), 0))
                                    message.cpus = value;
                                else
                                    delete message.cpus;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.gracePeriodMs = value;
                                else
                                    delete message.gracePeriodMs;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if (message.files === $util.emptyObject)
                                    message.files = {};
                                let end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = [];
                                while (reader.pos < end2) {
                                    let tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.bytes();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.files, key);
                                message.files[key] = value;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.logBudgetBytes = value;
                                else
                                    delete message.logBudgetBytes;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                if (message.secrets === $util.emptyObject)
                                    message.secrets = {};
                                let end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    let tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.secrets, key);
                                message.secrets[key] = value;
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

                return LaunchPlan;
            })();

            v1.LaunchResponse = (function() {

                const LaunchResponse = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                LaunchResponse.prototype.outcome = 0;
                LaunchResponse.prototype.fencingAttempt = 0;
                LaunchResponse.prototype.reason = "";

                LaunchResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.outcome != null && $Object.hasOwnProperty.call(message, "outcome") && message.outcome !== 0)
                        writer.uint32(8).int32(message.outcome);
                    if (message.fencingAttempt != null && $Object.hasOwnProperty.call(message, "fencingAttempt") && message.fencingAttempt !== 0)
                        writer.uint32(16).uint32(message.fencingAttempt);
                    if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                        writer.uint32(26).string(message.reason);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                LaunchResponse.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.LaunchResponse();
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
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.outcome = value;
                                else
                                    delete message.outcome;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.fencingAttempt = value;
                                else
                                    delete message.fencingAttempt;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.reason = value;
                                else
                                    delete message.reason;
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

                LaunchResponse.Outcome = (function() {
                    const valuesById = $Object.create(null), values = $Object.create(valuesById);
                    values[valuesById[0] = "OUTCOME_UNSPECIFIED"] = 0;
                    values[valuesById[1] = "STARTED"] = 1;
                    values[valuesById[2] = "ALREADY_RUNNING"] = 2;
                    values[valuesById[3] = "ALREADY_ENDED"] = 3;
                    values[valuesById[4] = "FENCED"] = 4;
                    return values;
                })();

                return LaunchResponse;
            })();

            v1.AttachRequest = (function() {

                const AttachRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                AttachRequest.prototype.experiment = "";
                AttachRequest.prototype.attempt = 0;
                AttachRequest.prototype.after = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

                AttachRequest.encode = function (message, writer, _depth) {
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
                    if (message.after != null && $Object.hasOwnProperty.call(message, "after") && (typeof message.after === "object" ? message.after.low || message.after.high : message.after !== 0))
                        writer.uint32(24).uint64(message.after);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                AttachRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.AttachRequest();
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
                                    message.after = value;
                                else
                                    delete message.after;
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

                return AttachRequest;
            })();

            v1.StopRequest = (function() {

                const StopRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                StopRequest.prototype.experiment = "";
                StopRequest.prototype.attempt = 0;
                StopRequest.prototype.gracePeriodMs = 0;
                StopRequest.prototype.reason = "";

                StopRequest.encode = function (message, writer, _depth) {
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
                    if (message.gracePeriodMs != null && $Object.hasOwnProperty.call(message, "gracePeriodMs") && message.gracePeriodMs !== 0)
                        writer.uint32(24).uint32(message.gracePeriodMs);
                    if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                        writer.uint32(34).string(message.reason);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                StopRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.StopRequest();
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
                                if (value = reader.uint32())
                                    message.gracePeriodMs = value;
                                else
                                    delete message.gracePeriodMs;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.reason = value;
                                else
                                    delete message.reason;
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

                return StopRequest;
            })();

            v1.ForgetRequest = (function() {

                const ForgetRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ForgetRequest.prototype.experiment = "";
                ForgetRequest.prototype.attempt = 0;

                ForgetRequest.encode = function (message, writer, _depth) {
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
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ForgetRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.ForgetRequest();
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

                return ForgetRequest;
            })();

            v1.ForgetResponse = (function() {

                const ForgetResponse = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ForgetResponse.prototype.forgotten = 0;

                ForgetResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.forgotten != null && $Object.hasOwnProperty.call(message, "forgotten") && message.forgotten !== 0)
                        writer.uint32(8).uint32(message.forgotten);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ForgetResponse.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.ForgetResponse();
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
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.forgotten = value;
                                else
                                    delete message.forgotten;
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

                return ForgetResponse;
            })();

            v1.StopResponse = (function() {

                const StopResponse = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                StopResponse.prototype.dropped = false;
                StopResponse.prototype.ended = null;

                StopResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.dropped != null && $Object.hasOwnProperty.call(message, "dropped") && message.dropped !== false)
                        writer.uint32(8).bool(message.dropped);
                    if (message.ended != null && $Object.hasOwnProperty.call(message, "ended"))
                        $root.echelon.rayworker.v1.Ended.encode(message.ended, writer.uint32(18).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                StopResponse.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.StopResponse();
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
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.dropped = value;
                                else
                                    delete message.dropped;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                message.ended = $root.echelon.rayworker.v1.Ended.decode(reader, reader.size(), $undefined, _depth + 1, message.ended);
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

                return StopResponse;
            })();

            v1.PreflightRequest = (function() {

                const PreflightRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                PreflightRequest.prototype.plan = null;
                PreflightRequest.prototype.deadlineMs = 0;

                PreflightRequest.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.plan != null && $Object.hasOwnProperty.call(message, "plan"))
                        $root.echelon.rayworker.v1.LaunchPlan.encode(message.plan, writer.uint32(10).fork(), _depth + 1).ldelim();
                    if (message.deadlineMs != null && $Object.hasOwnProperty.call(message, "deadlineMs") && message.deadlineMs !== 0)
                        writer.uint32(16).uint32(message.deadlineMs);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                PreflightRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.PreflightRequest();
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
                                message.plan = $root.echelon.rayworker.v1.LaunchPlan.decode(reader, reader.size(), $undefined, _depth + 1, message.plan);
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.deadlineMs = value;
                                else
                                    delete message.deadlineMs;
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

                return PreflightRequest;
            })();

            v1.PreflightResponse = (function() {

                const PreflightResponse = function (properties) {
                    this.findings = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                PreflightResponse.prototype.findings = $util.emptyArray;

                PreflightResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.findings != null && message.findings.length)
                        for (let i = 0; i < message.findings.length; ++i)
                            $root.echelon.rayworker.v1.Finding.encode(message.findings[i], writer.uint32(10).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                PreflightResponse.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.rayworker.v1.PreflightResponse();
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
                                if (!(message.findings && message.findings.length))
                                    message.findings = [];
                                message.findings.push($root.echelon.rayworker.v1.Finding.decode(reader, reader.size(), $undefined, _depth + 1));
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

                return PreflightResponse;
            })();

            v1.Finding = (function() {

                const Finding = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Finding.prototype.check = "";
                Finding.prototype.severity = 0;
                Finding.prototype.message = "";
                Finding.prototype.remedy = "";

                Finding.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.check != null && $Object.hasOwnProperty.call(message, "check") && message.check !== "")
                        writer.uint32(10).string(message.check);
                    if (message.severity != null && $Object.hasOwnProperty.call(message, "severity") && message.severity !== 0)
                        writer.uint32(16).int32(message.severity);
                    if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                        writer.uint32(26).string(message.message);
                    if (message.remedy != null && $Object.hasOwnProperty.call(message, "remedy") && message.remedy !== "")
                        writer.uint32(34).string(message.remedy);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Finding.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.Finding();
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
                                    message.check = value;
                                else
                                    delete message.check;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.severity = value;
                                else
                                    delete message.severity;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.message = value;
                                else
                                    delete message.message;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.remedy = value;
                                else
                                    delete message.remedy;
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

                Finding.Severity = (function() {
                    const valuesById = $Object.create(null), values = $Object.create(valuesById);
                    values[valuesById[0] = "SEVERITY_UNSPECIFIED"] = 0;
                    values[valuesById[1] = "OK"] = 1;
                    values[valuesById[2] = "WARNING"] = 2;
                    values[valuesById[3] = "ERROR"] = 3;
                    return values;
                })();

                return Finding;
            })();

            v1.ListRequest = (function() {

                const ListRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ListRequest.prototype.experiment = "";

                ListRequest.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.experiment != null && $Object.hasOwnProperty.call(message, "experiment") && message.experiment !== "")
                        writer.uint32(10).string(message.experiment);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ListRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.ListRequest();
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

                return ListRequest;
            })();

            v1.ListResponse = (function() {

                const ListResponse = function (properties) {
                    this.attempts = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ListResponse.prototype.attempts = $util.emptyArray;

                ListResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.attempts != null && message.attempts.length)
                        for (let i = 0; i < message.attempts.length; ++i)
                            $root.echelon.rayworker.v1.AttemptStatus.encode(message.attempts[i], writer.uint32(10).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ListResponse.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.rayworker.v1.ListResponse();
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
                                if (!(message.attempts && message.attempts.length))
                                    message.attempts = [];
                                message.attempts.push($root.echelon.rayworker.v1.AttemptStatus.decode(reader, reader.size(), $undefined, _depth + 1));
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

                return ListResponse;
            })();

            v1.AttemptStatus = (function() {

                const AttemptStatus = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                AttemptStatus.prototype.experiment = "";
                AttemptStatus.prototype.attempt = 0;
                AttemptStatus.prototype.running = false;
                AttemptStatus.prototype.lastSequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                AttemptStatus.prototype.launchedAtUnixMs = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
                AttemptStatus.prototype.ended = null;
                AttemptStatus.prototype.tombstone = false;

                AttemptStatus.encode = function (message, writer, _depth) {
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
                    if (message.running != null && $Object.hasOwnProperty.call(message, "running") && message.running !== false)
                        writer.uint32(24).bool(message.running);
                    if (message.lastSequence != null && $Object.hasOwnProperty.call(message, "lastSequence") && (typeof message.lastSequence === "object" ? message.lastSequence.low || message.lastSequence.high : message.lastSequence !== 0))
                        writer.uint32(32).uint64(message.lastSequence);
                    if (message.launchedAtUnixMs != null && $Object.hasOwnProperty.call(message, "launchedAtUnixMs") && (typeof message.launchedAtUnixMs === "object" ? message.launchedAtUnixMs.low || message.launchedAtUnixMs.high : message.launchedAtUnixMs !== 0))
                        writer.uint32(40).int64(message.launchedAtUnixMs);
                    if (message.ended != null && $Object.hasOwnProperty.call(message, "ended"))
                        $root.echelon.rayworker.v1.Ended.encode(message.ended, writer.uint32(50).fork(), _depth + 1).ldelim();
                    if (message.tombstone != null && $Object.hasOwnProperty.call(message, "tombstone") && message.tombstone !== false)
                        writer.uint32(56).bool(message.tombstone);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                AttemptStatus.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.AttemptStatus();
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
                                if (value = reader.bool())
                                    message.running = value;
                                else
                                    delete message.running;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.lastSequence = value;
                                else
                                    delete message.lastSequence;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.launchedAtUnixMs = value;
                                else
                                    delete message.launchedAtUnixMs;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                message.ended = $root.echelon.rayworker.v1.Ended.decode(reader, reader.size(), $undefined, _depth + 1, message.ended);
                                continue;
                            }
                        case 7: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.tombstone = value;
                                else
                                    delete message.tombstone;
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

                return AttemptStatus;
            })();

            v1.AttemptEvent = (function() {

                const AttemptEvent = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                AttemptEvent.prototype.sequence = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                AttemptEvent.prototype.timeUnixMs = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
                AttemptEvent.prototype.started = null;
                AttemptEvent.prototype.stage = null;
                AttemptEvent.prototype.log = null;
                AttemptEvent.prototype.metrics = null;
                AttemptEvent.prototype.batch = null;
                AttemptEvent.prototype.checkpoint = null;
                AttemptEvent.prototype.gap = null;
                AttemptEvent.prototype.ended = null;

                let $oneOfFields;

                $Object.defineProperty(AttemptEvent.prototype, "body", {
                    get: $util.oneOfGetter($oneOfFields = ["started", "stage", "log", "metrics", "batch", "checkpoint", "gap", "ended"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                AttemptEvent.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.sequence != null && $Object.hasOwnProperty.call(message, "sequence") && (typeof message.sequence === "object" ? message.sequence.low || message.sequence.high : message.sequence !== 0))
                        writer.uint32(8).uint64(message.sequence);
                    if (message.timeUnixMs != null && $Object.hasOwnProperty.call(message, "timeUnixMs") && (typeof message.timeUnixMs === "object" ? message.timeUnixMs.low || message.timeUnixMs.high : message.timeUnixMs !== 0))
                        writer.uint32(16).int64(message.timeUnixMs);
                    if (message.started != null && $Object.hasOwnProperty.call(message, "started"))
                        $root.echelon.rayworker.v1.Started.encode(message.started, writer.uint32(26).fork(), _depth + 1).ldelim();
                    if (message.stage != null && $Object.hasOwnProperty.call(message, "stage"))
                        $root.echelon.rayworker.v1.Stage.encode(message.stage, writer.uint32(34).fork(), _depth + 1).ldelim();
                    if (message.log != null && $Object.hasOwnProperty.call(message, "log"))
                        $root.echelon.rayworker.v1.LogLines.encode(message.log, writer.uint32(42).fork(), _depth + 1).ldelim();
                    if (message.metrics != null && $Object.hasOwnProperty.call(message, "metrics"))
                        $root.echelon.rayworker.v1.Metrics.encode(message.metrics, writer.uint32(50).fork(), _depth + 1).ldelim();
                    if (message.batch != null && $Object.hasOwnProperty.call(message, "batch"))
                        $root.echelon.rayworker.v1.BatchChunk.encode(message.batch, writer.uint32(58).fork(), _depth + 1).ldelim();
                    if (message.checkpoint != null && $Object.hasOwnProperty.call(message, "checkpoint"))
                        $root.echelon.rayworker.v1.Checkpoint.encode(message.checkpoint, writer.uint32(66).fork(), _depth + 1).ldelim();
                    if (message.gap != null && $Object.hasOwnProperty.call(message, "gap"))
                        $root.echelon.rayworker.v1.Gap.encode(message.gap, writer.uint32(74).fork(), _depth + 1).ldelim();
                    if (message.ended != null && $Object.hasOwnProperty.call(message, "ended"))
                        $root.echelon.rayworker.v1.Ended.encode(message.ended, writer.uint32(82).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                AttemptEvent.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.AttemptEvent();
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
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.sequence = value;
                                else
                                    delete message.sequence;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.timeUnixMs = value;
                                else
                                    delete message.timeUnixMs;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                message.started = $root.echelon.rayworker.v1.Started.decode(reader, reader.size(), $undefined, _depth + 1, message.started);
                                message.body = "started";
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                message.stage = $root.echelon.rayworker.v1.Stage.decode(reader, reader.size(), $undefined, _depth + 1, message.stage);
                                message.body = "stage";
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                message.log = $root.echelon.rayworker.v1.LogLines.decode(reader, reader.size(), $undefined, _depth + 1, message.log);
                                message.body = "log";
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                message.metrics = $root.echelon.rayworker.v1.Metrics.decode(reader, reader.size(), $undefined, _depth + 1, message.metrics);
                                message.body = "metrics";
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                message.batch = $root.echelon.rayworker.v1.BatchChunk.decode(reader, reader.size(), $undefined, _depth + 1, message.batch);
                                message.body = "batch";
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                message.checkpoint = $root.echelon.rayworker.v1.Checkpoint.decode(reader, reader.size(), $undefined, _depth + 1, message.checkpoint);
                                message.body = "checkpoint";
                                continue;
                            }
                        case 9: {
                                if (wireType !== 2)
                                    break;
                                message.gap = $root.echelon.rayworker.v1.Gap.decode(reader, reader.size(), $undefined, _depth + 1, message.gap);
                                message.body = "gap";
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                message.ended = $root.echelon.rayworker.v1.Ended.decode(reader, reader.size(), $undefined, _depth + 1, message.ended);
                                message.body = "ended";
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

                return AttemptEvent;
            })();

            v1.Started = (function() {

                const Started = function (properties) {
                    this.command = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Started.prototype.pid = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
                Started.prototype.nodeId = "";
                Started.prototype.command = $util.emptyArray;

                Started.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.pid != null && $Object.hasOwnProperty.call(message, "pid") && (typeof message.pid === "object" ? message.pid.low || message.pid.high : message.pid !== 0))
                        writer.uint32(8).int64(message.pid);
                    if (message.nodeId != null && $Object.hasOwnProperty.call(message, "nodeId") && message.nodeId !== "")
                        writer.uint32(18).string(message.nodeId);
                    if (message.command != null && message.command.length)
                        for (let i = 0; i < message.command.length; ++i)
                            writer.uint32(26).string(message.command[i]);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Started.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.Started();
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
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.pid = value;
                                else
                                    delete message.pid;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.nodeId = value;
                                else
                                    delete message.nodeId;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.command && message.command.length))
                                    message.command = [];
                                message.command.push(reader.stringVerify());
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

                return Started;
            })();

            v1.Stage = (function() {

                const Stage = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Stage.prototype.name = "";
                Stage.prototype.step = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Stage.prototype.steps = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

                Stage.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                        writer.uint32(10).string(message.name);
                    if (message.step != null && $Object.hasOwnProperty.call(message, "step") && (typeof message.step === "object" ? message.step.low || message.step.high : message.step !== 0))
                        writer.uint32(16).uint64(message.step);
                    if (message.steps != null && $Object.hasOwnProperty.call(message, "steps") && (typeof message.steps === "object" ? message.steps.low || message.steps.high : message.steps !== 0))
                        writer.uint32(24).uint64(message.steps);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Stage.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.Stage();
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
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.step = value;
                                else
                                    delete message.step;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.steps = value;
                                else
                                    delete message.steps;
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

                return Stage;
            })();

            v1.LogLines = (function() {

                const LogLines = function (properties) {
                    this.lines = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                LogLines.prototype.source = 0;
                LogLines.prototype.lines = $util.emptyArray;
                LogLines.prototype.cutBytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

                LogLines.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.source != null && $Object.hasOwnProperty.call(message, "source") && message.source !== 0)
                        writer.uint32(8).int32(message.source);
                    if (message.lines != null && message.lines.length)
                        for (let i = 0; i < message.lines.length; ++i)
                            writer.uint32(18).string(message.lines[i]);
                    if (message.cutBytes != null && $Object.hasOwnProperty.call(message, "cutBytes") && (typeof message.cutBytes === "object" ? message.cutBytes.low || message.cutBytes.high : message.cutBytes !== 0))
                        writer.uint32(24).uint64(message.cutBytes);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                LogLines.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.LogLines();
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
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.source = value;
                                else
                                    delete message.source;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.lines && message.lines.length))
                                    message.lines = [];
                                message.lines.push(reader.stringVerify());
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.cutBytes = value;
                                else
                                    delete message.cutBytes;
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

                LogLines.Source = (function() {
                    const valuesById = $Object.create(null), values = $Object.create(valuesById);
                    values[valuesById[0] = "SOURCE_UNSPECIFIED"] = 0;
                    values[valuesById[1] = "STDOUT"] = 1;
                    values[valuesById[2] = "STDERR"] = 2;
                    return values;
                })();

                return LogLines;
            })();

            v1.Metrics = (function() {

                const Metrics = function (properties) {
                    this.values = {};
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Metrics.prototype.step = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Metrics.prototype.values = $util.emptyObject;

                Metrics.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.step != null && $Object.hasOwnProperty.call(message, "step") && (typeof message.step === "object" ? message.step.low || message.step.high : message.step !== 0))
                        writer.uint32(8).uint64(message.step);
                    if (message.values != null && $Object.hasOwnProperty.call(message, "values"))
                        for (let keys = $Object.keys(message.values), i = 0; i < keys.length; ++i)
                            writer.uint32(18).fork().uint32(10).string(keys[i]).uint32(17).double(message.values[keys[i]]).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Metrics.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    let end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.echelon.rayworker.v1.Metrics();
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
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.step = value;
                                else
                                    delete message.step;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if (message.values === $util.emptyObject)
                                    message.values = {};
                                let end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = 0;
                                while (reader.pos < end2) {
                                    let tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 1)
                                            break;
                                        value = reader.double();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.values, key);
                                message.values[key] = value;
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

                return Metrics;
            })();

            v1.BatchChunk = (function() {

                const BatchChunk = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                BatchChunk.prototype.step = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                BatchChunk.prototype.batch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                BatchChunk.prototype.index = 0;
                BatchChunk.prototype.count = 0;
                BatchChunk.prototype.data = $util.newBuffer([]);
                BatchChunk.prototype.digest = $util.newBuffer([]);
                BatchChunk.prototype.rows = 0;

                BatchChunk.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.step != null && $Object.hasOwnProperty.call(message, "step") && (typeof message.step === "object" ? message.step.low || message.step.high : message.step !== 0))
                        writer.uint32(8).uint64(message.step);
                    if (message.batch != null && $Object.hasOwnProperty.call(message, "batch") && (typeof message.batch === "object" ? message.batch.low || message.batch.high : message.batch !== 0))
                        writer.uint32(16).uint64(message.batch);
                    if (message.index != null && $Object.hasOwnProperty.call(message, "index") && message.index !== 0)
                        writer.uint32(24).uint32(message.index);
                    if (message.count != null && $Object.hasOwnProperty.call(message, "count") && message.count !== 0)
                        writer.uint32(32).uint32(message.count);
                    if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                        writer.uint32(42).bytes(message.data);
                    if (message.digest != null && $Object.hasOwnProperty.call(message, "digest") && message.digest.length)
                        writer.uint32(50).bytes(message.digest);
                    if (message.rows != null && $Object.hasOwnProperty.call(message, "rows") && message.rows !== 0)
                        writer.uint32(56).uint32(message.rows);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                BatchChunk.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.BatchChunk();
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
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.step = value;
                                else
                                    delete message.step;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.batch = value;
                                else
                                    delete message.batch;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.index = value;
                                else
                                    delete message.index;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.count = value;
                                else
                                    delete message.count;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.data = value;
                                else
                                    delete message.data;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.digest = value;
                                else
                                    delete message.digest;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.rows = value;
                                else
                                    delete message.rows;
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

                return BatchChunk;
            })();

            v1.Checkpoint = (function() {

                const Checkpoint = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Checkpoint.prototype.step = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Checkpoint.prototype.path = "";

                Checkpoint.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.step != null && $Object.hasOwnProperty.call(message, "step") && (typeof message.step === "object" ? message.step.low || message.step.high : message.step !== 0))
                        writer.uint32(8).uint64(message.step);
                    if (message.path != null && $Object.hasOwnProperty.call(message, "path") && message.path !== "")
                        writer.uint32(18).string(message.path);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Checkpoint.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.Checkpoint();
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
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.step = value;
                                else
                                    delete message.step;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.path = value;
                                else
                                    delete message.path;
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

                return Checkpoint;
            })();

            v1.Gap = (function() {

                const Gap = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Gap.prototype.kind = 0;
                Gap.prototype.step = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Gap.prototype.count = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Gap.prototype.bytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                Gap.prototype.reason = "";
                Gap.prototype.rows = 0;

                Gap.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.kind != null && $Object.hasOwnProperty.call(message, "kind") && message.kind !== 0)
                        writer.uint32(8).int32(message.kind);
                    if (message.step != null && $Object.hasOwnProperty.call(message, "step") && (typeof message.step === "object" ? message.step.low || message.step.high : message.step !== 0))
                        writer.uint32(16).uint64(message.step);
                    if (message.count != null && $Object.hasOwnProperty.call(message, "count") && (typeof message.count === "object" ? message.count.low || message.count.high : message.count !== 0))
                        writer.uint32(24).uint64(message.count);
                    if (message.bytes != null && $Object.hasOwnProperty.call(message, "bytes") && (typeof message.bytes === "object" ? message.bytes.low || message.bytes.high : message.bytes !== 0))
                        writer.uint32(32).uint64(message.bytes);
                    if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                        writer.uint32(42).string(message.reason);
                    if (message.rows != null && $Object.hasOwnProperty.call(message, "rows") && message.rows !== 0)
                        writer.uint32(48).uint32(message.rows);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Gap.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.Gap();
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
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.kind = value;
                                else
                                    delete message.kind;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.step = value;
                                else
                                    delete message.step;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.count = value;
                                else
                                    delete message.count;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.bytes = value;
                                else
                                    delete message.bytes;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.reason = value;
                                else
                                    delete message.reason;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.uint32())
                                    message.rows = value;
                                else
                                    delete message.rows;
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

                Gap.Kind = (function() {
                    const valuesById = $Object.create(null), values = $Object.create(valuesById);
                    values[valuesById[0] = "KIND_UNSPECIFIED"] = 0;
                    values[valuesById[1] = "LOGS"] = 1;
                    values[valuesById[2] = "BATCH"] = 2;
                    return values;
                })();

                return Gap;
            })();

            v1.Ended = (function() {

                const Ended = function (properties) {
                    this.lastLines = [];
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Ended.prototype.cause = 0;
                Ended.prototype.exitCode = 0;
                Ended.prototype.signal = 0;
                Ended.prototype.message = "";
                Ended.prototype.lastLines = $util.emptyArray;

                Ended.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                        writer.uint32(8).int32(message.cause);
                    if (message.exitCode != null && $Object.hasOwnProperty.call(message, "exitCode") && message.exitCode !== 0)
                        writer.uint32(16).int32(message.exitCode);
                    if (message.signal != null && $Object.hasOwnProperty.call(message, "signal") && message.signal !== 0)
                        writer.uint32(24).int32(message.signal);
                    if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                        writer.uint32(34).string(message.message);
                    if (message.lastLines != null && message.lastLines.length)
                        for (let i = 0; i < message.lastLines.length; ++i)
                            writer.uint32(42).string(message.lastLines[i]);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Ended.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.echelon.rayworker.v1.Ended();
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
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.cause = value;
                                else
                                    delete message.cause;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.exitCode = value;
                                else
                                    delete message.exitCode;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.signal = value;
                                else
                                    delete message.signal;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.message = value;
                                else
                                    delete message.message;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.lastLines && message.lastLines.length))
                                    message.lastLines = [];
                                message.lastLines.push(reader.stringVerify());
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

                Ended.Cause = (function() {
                    const valuesById = $Object.create(null), values = $Object.create(valuesById);
                    values[valuesById[0] = "CAUSE_UNSPECIFIED"] = 0;
                    values[valuesById[1] = "SUCCEEDED"] = 1;
                    values[valuesById[2] = "FAILED"] = 2;
                    values[valuesById[3] = "STOPPED"] = 3;
                    values[valuesById[4] = "KILLED"] = 4;
                    values[valuesById[5] = "OUT_OF_MEMORY"] = 5;
                    values[valuesById[6] = "SUPERVISOR_LOST"] = 6;
                    values[valuesById[7] = "NOT_STARTED"] = 7;
                    values[valuesById[8] = "NODE_LOST"] = 8;
                    values[valuesById[9] = "CLUSTER_FAILED"] = 9;
                    values[valuesById[10] = "GPUS_SHORT"] = 10;
                    return values;
                })();

                return Ended;
            })();

            return v1;
        })();

        return rayworker;
    })();

    return echelon;
})();

export const grpc = $root.grpc = (() => {

    const grpc = {};

    grpc.health = (function() {

        const health = {};

        health.v1 = (function() {

            const v1 = {};

            v1.HealthCheckRequest = (function() {

                const HealthCheckRequest = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                HealthCheckRequest.prototype.service = "";

                HealthCheckRequest.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.service != null && $Object.hasOwnProperty.call(message, "service") && message.service !== "")
                        writer.uint32(10).string(message.service);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                HealthCheckRequest.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.grpc.health.v1.HealthCheckRequest();
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
                                    message.service = value;
                                else
                                    delete message.service;
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

                return HealthCheckRequest;
            })();

            v1.HealthCheckResponse = (function() {

                const HealthCheckResponse = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                HealthCheckResponse.prototype.status = 0;

                HealthCheckResponse.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.status != null && $Object.hasOwnProperty.call(message, "status") && message.status !== 0)
                        writer.uint32(8).int32(message.status);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                HealthCheckResponse.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.grpc.health.v1.HealthCheckResponse();
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
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.status = value;
                                else
                                    delete message.status;
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

                HealthCheckResponse.ServingStatus = (function() {
                    const valuesById = $Object.create(null), values = $Object.create(valuesById);
                    values[valuesById[0] = "UNKNOWN"] = 0;
                    values[valuesById[1] = "SERVING"] = 1;
                    values[valuesById[2] = "NOT_SERVING"] = 2;
                    values[valuesById[3] = "SERVICE_UNKNOWN"] = 3;
                    return values;
                })();

                return HealthCheckResponse;
            })();

            return v1;
        })();

        return health;
    })();

    return grpc;
})();

export {
  $root as default
};
