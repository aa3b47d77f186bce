/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

const $root = $protobuf.roots["ray-client"] || ($protobuf.roots["ray-client"] = {});

export const ray = $root.ray = (() => {

    const ray = {};

    ray.rpc = (function() {

        const rpc = {};

        rpc.TaskOptions = (function() {

            const TaskOptions = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TaskOptions.prototype.pickled_options = $util.newBuffer([]);

            TaskOptions.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.pickled_options != null && $Object.hasOwnProperty.call(message, "pickled_options") && message.pickled_options.length)
                    writer.uint32(10).bytes(message.pickled_options);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TaskOptions.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.TaskOptions();
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
                            if ((value = reader.bytes()).length)
                                message.pickled_options = value;
                            else
                                delete message.pickled_options;
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

            return TaskOptions;
        })();

        rpc.ClientTask = (function() {

            const ClientTask = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClientTask.prototype.type = 0;
            ClientTask.prototype.name = "";
            ClientTask.prototype.payload_id = $util.newBuffer([]);
            ClientTask.prototype.client_id = "";
            ClientTask.prototype.options = null;
            ClientTask.prototype.baseline_options = null;
            ClientTask.prototype.namespace = "";
            ClientTask.prototype.data = $util.newBuffer([]);
            ClientTask.prototype.chunk_id = 0;
            ClientTask.prototype.total_chunks = 0;

            ClientTask.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.type != null && $Object.hasOwnProperty.call(message, "type") && message.type !== 0)
                    writer.uint32(8).int32(message.type);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(18).string(message.name);
                if (message.payload_id != null && $Object.hasOwnProperty.call(message, "payload_id") && message.payload_id.length)
                    writer.uint32(26).bytes(message.payload_id);
                if (message.client_id != null && $Object.hasOwnProperty.call(message, "client_id") && message.client_id !== "")
                    writer.uint32(50).string(message.client_id);
                if (message.options != null && $Object.hasOwnProperty.call(message, "options"))
                    $root.ray.rpc.TaskOptions.encode(message.options, writer.uint32(58).fork(), _depth + 1).ldelim();
                if (message.baseline_options != null && $Object.hasOwnProperty.call(message, "baseline_options"))
                    $root.ray.rpc.TaskOptions.encode(message.baseline_options, writer.uint32(66).fork(), _depth + 1).ldelim();
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(74).string(message.namespace);
                if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                    writer.uint32(82).bytes(message.data);
                if (message.chunk_id != null && $Object.hasOwnProperty.call(message, "chunk_id") && message.chunk_id !== 0)
                    writer.uint32(88).int32(message.chunk_id);
                if (message.total_chunks != null && $Object.hasOwnProperty.call(message, "total_chunks") && message.total_chunks !== 0)
                    writer.uint32(96).int32(message.total_chunks);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClientTask.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClientTask();
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
                                message.type = value;
                            else
                                delete message.type;
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
                            if ((value = reader.bytes()).length)
                                message.payload_id = value;
                            else
                                delete message.payload_id;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.client_id = value;
                            else
                                delete message.client_id;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            message.options = $root.ray.rpc.TaskOptions.decode(reader, reader.size(), $undefined, _depth + 1, message.options);
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            message.baseline_options = $root.ray.rpc.TaskOptions.decode(reader, reader.size(), $undefined, _depth + 1, message.baseline_options);
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.data = value;
                            else
                                delete message.data;
                            continue;
                        }
                    case 11: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.chunk_id = value;
                            else
                                delete message.chunk_id;
                            continue;
                        }
                    case 12: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.total_chunks = value;
                            else
                                delete message.total_chunks;
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

            ClientTask.RemoteExecType = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "FUNCTION"] = 0;
                values[valuesById[1] = "ACTOR"] = 1;
                values[valuesById[2] = "METHOD"] = 2;
                values[valuesById[3] = "STATIC_METHOD"] = 3;
                values[valuesById[4] = "NAMED_ACTOR"] = 4;
                return values;
            })();

            return ClientTask;
        })();

        rpc.ClientTaskTicket = (function() {

            const ClientTaskTicket = function (properties) {
                this.return_ids = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClientTaskTicket.prototype.valid = false;
            ClientTaskTicket.prototype.return_ids = $util.emptyArray;
            ClientTaskTicket.prototype.error = $util.newBuffer([]);

            ClientTaskTicket.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.valid != null && $Object.hasOwnProperty.call(message, "valid") && message.valid !== false)
                    writer.uint32(8).bool(message.valid);
                if (message.return_ids != null && message.return_ids.length)
                    for (let i = 0; i < message.return_ids.length; ++i)
                        writer.uint32(18).bytes(message.return_ids[i]);
                if (message.error != null && $Object.hasOwnProperty.call(message, "error") && message.error.length)
                    writer.uint32(26).bytes(message.error);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClientTaskTicket.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClientTaskTicket();
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
                                message.valid = value;
                            else
                                delete message.valid;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.return_ids && message.return_ids.length))
                                message.return_ids = [];
                            message.return_ids.push(reader.bytes());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.error = value;
                            else
                                delete message.error;
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

            return ClientTaskTicket;
        })();

        rpc.PutRequest = (function() {

            const PutRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            PutRequest.prototype.data = $util.newBuffer([]);
            PutRequest.prototype.client_ref_id = $util.newBuffer([]);
            PutRequest.prototype.chunk_id = 0;
            PutRequest.prototype.total_chunks = 0;
            PutRequest.prototype.total_size = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

            PutRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                    writer.uint32(10).bytes(message.data);
                if (message.client_ref_id != null && $Object.hasOwnProperty.call(message, "client_ref_id") && message.client_ref_id.length)
                    writer.uint32(18).bytes(message.client_ref_id);
                if (message.chunk_id != null && $Object.hasOwnProperty.call(message, "chunk_id") && message.chunk_id !== 0)
                    writer.uint32(24).int32(message.chunk_id);
                if (message.total_chunks != null && $Object.hasOwnProperty.call(message, "total_chunks") && message.total_chunks !== 0)
                    writer.uint32(32).int32(message.total_chunks);
                if (message.total_size != null && $Object.hasOwnProperty.call(message, "total_size") && (typeof message.total_size === "object" ? message.total_size.low || message.total_size.high : message.total_size !== 0))
                    writer.uint32(40).int64(message.total_size);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            PutRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.PutRequest();
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
                            if ((value = reader.bytes()).length)
                                message.data = value;
                            else
                                delete message.data;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.client_ref_id = value;
                            else
                                delete message.client_ref_id;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.chunk_id = value;
                            else
                                delete message.chunk_id;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.total_chunks = value;
                            else
                                delete message.total_chunks;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                message.total_size = value;
                            else
                                delete message.total_size;
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

            return PutRequest;
        })();

        rpc.PutResponse = (function() {

            const PutResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            PutResponse.prototype.id = $util.newBuffer([]);
            PutResponse.prototype.valid = false;
            PutResponse.prototype.error = $util.newBuffer([]);

            PutResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id.length)
                    writer.uint32(10).bytes(message.id);
                if (message.valid != null && $Object.hasOwnProperty.call(message, "valid") && message.valid !== false)
                    writer.uint32(16).bool(message.valid);
                if (message.error != null && $Object.hasOwnProperty.call(message, "error") && message.error.length)
                    writer.uint32(26).bytes(message.error);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            PutResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.PutResponse();
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
                            if ((value = reader.bytes()).length)
                                message.id = value;
                            else
                                delete message.id;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.valid = value;
                            else
                                delete message.valid;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.error = value;
                            else
                                delete message.error;
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

            return PutResponse;
        })();

        rpc.GetRequest = (function() {

            const GetRequest = function (properties) {
                this.ids = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetRequest.prototype.timeout = 0;
            GetRequest.prototype.asynchronous = false;
            GetRequest.prototype.ids = $util.emptyArray;
            GetRequest.prototype.start_chunk_id = 0;

            GetRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.timeout != null && $Object.hasOwnProperty.call(message, "timeout") && !$Object.is(message.timeout, 0))
                    writer.uint32(21).float(message.timeout);
                if (message.asynchronous != null && $Object.hasOwnProperty.call(message, "asynchronous") && message.asynchronous !== false)
                    writer.uint32(24).bool(message.asynchronous);
                if (message.ids != null && message.ids.length)
                    for (let i = 0; i < message.ids.length; ++i)
                        writer.uint32(34).bytes(message.ids[i]);
                if (message.start_chunk_id != null && $Object.hasOwnProperty.call(message, "start_chunk_id") && message.start_chunk_id !== 0)
                    writer.uint32(40).int32(message.start_chunk_id);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.GetRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 2: {
                            if (wireType !== 5)
                                break;
                            if (!$Object.is(value = reader.float(), 0))
                                message.timeout = value;
                            else
                                delete message.timeout;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.asynchronous = value;
                            else
                                delete message.asynchronous;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.ids && message.ids.length))
                                message.ids = [];
                            message.ids.push(reader.bytes());
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.start_chunk_id = value;
                            else
                                delete message.start_chunk_id;
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

            return GetRequest;
        })();

        rpc.GetResponse = (function() {

            const GetResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetResponse.prototype.valid = false;
            GetResponse.prototype.data = $util.newBuffer([]);
            GetResponse.prototype.error = $util.newBuffer([]);
            GetResponse.prototype.chunk_id = 0;
            GetResponse.prototype.total_chunks = 0;
            GetResponse.prototype.total_size = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            GetResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.valid != null && $Object.hasOwnProperty.call(message, "valid") && message.valid !== false)
                    writer.uint32(8).bool(message.valid);
                if (message.data != null && $Object.hasOwnProperty.call(message, "data") && message.data.length)
                    writer.uint32(18).bytes(message.data);
                if (message.error != null && $Object.hasOwnProperty.call(message, "error") && message.error.length)
                    writer.uint32(26).bytes(message.error);
                if (message.chunk_id != null && $Object.hasOwnProperty.call(message, "chunk_id") && message.chunk_id !== 0)
                    writer.uint32(32).int32(message.chunk_id);
                if (message.total_chunks != null && $Object.hasOwnProperty.call(message, "total_chunks") && message.total_chunks !== 0)
                    writer.uint32(40).int32(message.total_chunks);
                if (message.total_size != null && $Object.hasOwnProperty.call(message, "total_size") && (typeof message.total_size === "object" ? message.total_size.low || message.total_size.high : message.total_size !== 0))
                    writer.uint32(48).uint64(message.total_size);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.GetResponse();
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
                                message.valid = value;
                            else
                                delete message.valid;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.data = value;
                            else
                                delete message.data;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.error = value;
                            else
                                delete message.error;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.chunk_id = value;
                            else
                                delete message.chunk_id;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.total_chunks = value;
                            else
                                delete message.total_chunks;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.total_size = value;
                            else
                                delete message.total_size;
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

            return GetResponse;
        })();

        rpc.WaitRequest = (function() {

            const WaitRequest = function (properties) {
                this.object_ids = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            WaitRequest.prototype.object_ids = $util.emptyArray;
            WaitRequest.prototype.num_returns = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
            WaitRequest.prototype.timeout = 0;
            WaitRequest.prototype.client_id = "";

            WaitRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.object_ids != null && message.object_ids.length)
                    for (let i = 0; i < message.object_ids.length; ++i)
                        writer.uint32(10).bytes(message.object_ids[i]);
                if (message.num_returns != null && $Object.hasOwnProperty.call(message, "num_returns") && (typeof message.num_returns === "object" ? message.num_returns.low || message.num_returns.high : message.num_returns !== 0))
                    writer.uint32(16).int64(message.num_returns);
                if (message.timeout != null && $Object.hasOwnProperty.call(message, "timeout") && !$Object.is(message.timeout, 0))
                    writer.uint32(25).double(message.timeout);
                if (message.client_id != null && $Object.hasOwnProperty.call(message, "client_id") && message.client_id !== "")
                    writer.uint32(34).string(message.client_id);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            WaitRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.WaitRequest();
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
                            if (!(message.object_ids && message.object_ids.length))
                                message.object_ids = [];
                            message.object_ids.push(reader.bytes());
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                message.num_returns = value;
                            else
                                delete message.num_returns;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 1)
                                break;
                            if (!$Object.is(value = reader.double(), 0))
                                message.timeout = value;
                            else
                                delete message.timeout;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.client_id = value;
                            else
                                delete message.client_id;
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

            return WaitRequest;
        })();

        rpc.WaitResponse = (function() {

            const WaitResponse = function (properties) {
                this.ready_object_ids = [];
                this.remaining_object_ids = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            WaitResponse.prototype.valid = false;
            WaitResponse.prototype.ready_object_ids = $util.emptyArray;
            WaitResponse.prototype.remaining_object_ids = $util.emptyArray;

            WaitResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.valid != null && $Object.hasOwnProperty.call(message, "valid") && message.valid !== false)
                    writer.uint32(8).bool(message.valid);
                if (message.ready_object_ids != null && message.ready_object_ids.length)
                    for (let i = 0; i < message.ready_object_ids.length; ++i)
                        writer.uint32(18).bytes(message.ready_object_ids[i]);
                if (message.remaining_object_ids != null && message.remaining_object_ids.length)
                    for (let i = 0; i < message.remaining_object_ids.length; ++i)
                        writer.uint32(26).bytes(message.remaining_object_ids[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            WaitResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.WaitResponse();
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
                                message.valid = value;
                            else
                                delete message.valid;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.ready_object_ids && message.ready_object_ids.length))
                                message.ready_object_ids = [];
                            message.ready_object_ids.push(reader.bytes());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if (!(message.remaining_object_ids && message.remaining_object_ids.length))
                                message.remaining_object_ids = [];
                            message.remaining_object_ids.push(reader.bytes());
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

            return WaitResponse;
        })();

        rpc.ReleaseRequest = (function() {

            const ReleaseRequest = function (properties) {
                this.ids = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ReleaseRequest.prototype.ids = $util.emptyArray;

            ReleaseRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.ids != null && message.ids.length)
                    for (let i = 0; i < message.ids.length; ++i)
                        writer.uint32(10).bytes(message.ids[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ReleaseRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ReleaseRequest();
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
                            if (!(message.ids && message.ids.length))
                                message.ids = [];
                            message.ids.push(reader.bytes());
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

            return ReleaseRequest;
        })();

        rpc.ReleaseResponse = (function() {

            const ReleaseResponse = function (properties) {
                this.ok = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ReleaseResponse.prototype.ok = $util.emptyArray;

            ReleaseResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.ok != null && message.ok.length)
                    writer.uint32(18).bools(message.ok);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ReleaseResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ReleaseResponse();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 2: {
                            if (wireType === 2) {
                                if (!(message.ok && message.ok.length))
                                    message.ok = [];
                                reader.bools(message.ok);
                                continue;
                            }
                            if (wireType !== 0)
                                break;
                            if (!(message.ok && message.ok.length))
                                message.ok = [];
                            message.ok.push(reader.bool());
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

            return ReleaseResponse;
        })();

        rpc.InitRequest = (function() {

            const InitRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            InitRequest.prototype.job_config = $util.newBuffer([]);
            InitRequest.prototype.ray_init_kwargs = "";
            InitRequest.prototype.reconnect_grace_period = 0;

            InitRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.job_config != null && $Object.hasOwnProperty.call(message, "job_config") && message.job_config.length)
                    writer.uint32(10).bytes(message.job_config);
                if (message.ray_init_kwargs != null && $Object.hasOwnProperty.call(message, "ray_init_kwargs") && message.ray_init_kwargs !== "")
                    writer.uint32(18).string(message.ray_init_kwargs);
                if (message.reconnect_grace_period != null && $Object.hasOwnProperty.call(message, "reconnect_grace_period") && message.reconnect_grace_period !== 0)
                    writer.uint32(24).int32(message.reconnect_grace_period);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            InitRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.InitRequest();
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
                            if ((value = reader.bytes()).length)
                                message.job_config = value;
                            else
                                delete message.job_config;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.ray_init_kwargs = value;
                            else
                                delete message.ray_init_kwargs;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.reconnect_grace_period = value;
                            else
                                delete message.reconnect_grace_period;
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

            return InitRequest;
        })();

        rpc.InitResponse = (function() {

            const InitResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            InitResponse.prototype.ok = false;
            InitResponse.prototype.msg = "";

            InitResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.ok != null && $Object.hasOwnProperty.call(message, "ok") && message.ok !== false)
                    writer.uint32(8).bool(message.ok);
                if (message.msg != null && $Object.hasOwnProperty.call(message, "msg") && message.msg !== "")
                    writer.uint32(18).string(message.msg);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            InitResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.InitResponse();
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
                                message.ok = value;
                            else
                                delete message.ok;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.msg = value;
                            else
                                delete message.msg;
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

            return InitResponse;
        })();

        rpc.ConnectionInfoRequest = (function() {

            const ConnectionInfoRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ConnectionInfoRequest.encode = function (message, writer, _depth) {
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

            ConnectionInfoRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ConnectionInfoRequest();
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

            return ConnectionInfoRequest;
        })();

        rpc.ConnectionInfoResponse = (function() {

            const ConnectionInfoResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ConnectionInfoResponse.prototype.num_clients = 0;
            ConnectionInfoResponse.prototype.ray_version = "";
            ConnectionInfoResponse.prototype.ray_commit = "";
            ConnectionInfoResponse.prototype.python_version = "";

            ConnectionInfoResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.num_clients != null && $Object.hasOwnProperty.call(message, "num_clients") && message.num_clients !== 0)
                    writer.uint32(8).int32(message.num_clients);
                if (message.ray_version != null && $Object.hasOwnProperty.call(message, "ray_version") && message.ray_version !== "")
                    writer.uint32(18).string(message.ray_version);
                if (message.ray_commit != null && $Object.hasOwnProperty.call(message, "ray_commit") && message.ray_commit !== "")
                    writer.uint32(26).string(message.ray_commit);
                if (message.python_version != null && $Object.hasOwnProperty.call(message, "python_version") && message.python_version !== "")
                    writer.uint32(34).string(message.python_version);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ConnectionInfoResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ConnectionInfoResponse();
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
                                message.num_clients = value;
                            else
                                delete message.num_clients;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.ray_version = value;
                            else
                                delete message.ray_version;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.ray_commit = value;
                            else
                                delete message.ray_commit;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.python_version = value;
                            else
                                delete message.python_version;
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

            return ConnectionInfoResponse;
        })();

        rpc.ConnectionCleanupRequest = (function() {

            const ConnectionCleanupRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ConnectionCleanupRequest.encode = function (message, writer, _depth) {
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

            ConnectionCleanupRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ConnectionCleanupRequest();
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

            return ConnectionCleanupRequest;
        })();

        rpc.ConnectionCleanupResponse = (function() {

            const ConnectionCleanupResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ConnectionCleanupResponse.encode = function (message, writer, _depth) {
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

            ConnectionCleanupResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ConnectionCleanupResponse();
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

            return ConnectionCleanupResponse;
        })();

        rpc.AcknowledgeRequest = (function() {

            const AcknowledgeRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AcknowledgeRequest.prototype.req_id = 0;

            AcknowledgeRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.req_id != null && $Object.hasOwnProperty.call(message, "req_id") && message.req_id !== 0)
                    writer.uint32(8).int32(message.req_id);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AcknowledgeRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.AcknowledgeRequest();
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
                                message.req_id = value;
                            else
                                delete message.req_id;
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

            return AcknowledgeRequest;
        })();

        rpc.TerminateRequest = (function() {

            const TerminateRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TerminateRequest.prototype.client_id = "";
            TerminateRequest.prototype.actor = null;
            TerminateRequest.prototype.task_object = null;

            let $oneOfFields;

            $Object.defineProperty(TerminateRequest.prototype, "terminate_type", {
                get: $util.oneOfGetter($oneOfFields = ["actor", "task_object"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            TerminateRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.client_id != null && $Object.hasOwnProperty.call(message, "client_id") && message.client_id !== "")
                    writer.uint32(10).string(message.client_id);
                if (message.actor != null && $Object.hasOwnProperty.call(message, "actor"))
                    $root.ray.rpc.TerminateRequest.ActorTerminate.encode(message.actor, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.task_object != null && $Object.hasOwnProperty.call(message, "task_object"))
                    $root.ray.rpc.TerminateRequest.TaskObjectTerminate.encode(message.task_object, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TerminateRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.TerminateRequest();
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
                                message.client_id = value;
                            else
                                delete message.client_id;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.actor = $root.ray.rpc.TerminateRequest.ActorTerminate.decode(reader, reader.size(), $undefined, _depth + 1, message.actor);
                            message.terminate_type = "actor";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.task_object = $root.ray.rpc.TerminateRequest.TaskObjectTerminate.decode(reader, reader.size(), $undefined, _depth + 1, message.task_object);
                            message.terminate_type = "task_object";
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

            TerminateRequest.ActorTerminate = (function() {

                const ActorTerminate = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ActorTerminate.prototype.id = $util.newBuffer([]);
                ActorTerminate.prototype.no_restart = false;

                ActorTerminate.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id.length)
                        writer.uint32(10).bytes(message.id);
                    if (message.no_restart != null && $Object.hasOwnProperty.call(message, "no_restart") && message.no_restart !== false)
                        writer.uint32(16).bool(message.no_restart);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ActorTerminate.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.ray.rpc.TerminateRequest.ActorTerminate();
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
                                if ((value = reader.bytes()).length)
                                    message.id = value;
                                else
                                    delete message.id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.no_restart = value;
                                else
                                    delete message.no_restart;
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

                return ActorTerminate;
            })();

            TerminateRequest.TaskObjectTerminate = (function() {

                const TaskObjectTerminate = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                TaskObjectTerminate.prototype.id = $util.newBuffer([]);
                TaskObjectTerminate.prototype.force = false;
                TaskObjectTerminate.prototype.recursive = false;

                TaskObjectTerminate.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id.length)
                        writer.uint32(10).bytes(message.id);
                    if (message.force != null && $Object.hasOwnProperty.call(message, "force") && message.force !== false)
                        writer.uint32(16).bool(message.force);
                    if (message.recursive != null && $Object.hasOwnProperty.call(message, "recursive") && message.recursive !== false)
                        writer.uint32(24).bool(message.recursive);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                TaskObjectTerminate.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.ray.rpc.TerminateRequest.TaskObjectTerminate();
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
                                if ((value = reader.bytes()).length)
                                    message.id = value;
                                else
                                    delete message.id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.force = value;
                                else
                                    delete message.force;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.recursive = value;
                                else
                                    delete message.recursive;
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

                return TaskObjectTerminate;
            })();

            return TerminateRequest;
        })();

        rpc.TerminateResponse = (function() {

            const TerminateResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            TerminateResponse.prototype.ok = false;

            TerminateResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.ok != null && $Object.hasOwnProperty.call(message, "ok") && message.ok !== false)
                    writer.uint32(8).bool(message.ok);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            TerminateResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.TerminateResponse();
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
                                message.ok = value;
                            else
                                delete message.ok;
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

            return TerminateResponse;
        })();

        rpc.ClientListNamedActorsRequest = (function() {

            const ClientListNamedActorsRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClientListNamedActorsRequest.prototype.all_namespaces = false;

            ClientListNamedActorsRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.all_namespaces != null && $Object.hasOwnProperty.call(message, "all_namespaces") && message.all_namespaces !== false)
                    writer.uint32(8).bool(message.all_namespaces);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClientListNamedActorsRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClientListNamedActorsRequest();
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
                                message.all_namespaces = value;
                            else
                                delete message.all_namespaces;
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

            return ClientListNamedActorsRequest;
        })();

        rpc.ClientListNamedActorsResponse = (function() {

            const ClientListNamedActorsResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClientListNamedActorsResponse.prototype.actors_json = "";

            ClientListNamedActorsResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.actors_json != null && $Object.hasOwnProperty.call(message, "actors_json") && message.actors_json !== "")
                    writer.uint32(10).string(message.actors_json);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClientListNamedActorsResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClientListNamedActorsResponse();
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
                                message.actors_json = value;
                            else
                                delete message.actors_json;
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

            return ClientListNamedActorsResponse;
        })();

        rpc.DataRequest = (function() {

            const DataRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DataRequest.prototype.req_id = 0;
            DataRequest.prototype.get = null;
            DataRequest.prototype.put = null;
            DataRequest.prototype.release = null;
            DataRequest.prototype.connection_info = null;
            DataRequest.prototype.init = null;
            DataRequest.prototype.connection_cleanup = null;
            DataRequest.prototype.acknowledge = null;
            DataRequest.prototype.task = null;
            DataRequest.prototype.terminate = null;
            DataRequest.prototype.list_named_actors = null;

            let $oneOfFields;

            $Object.defineProperty(DataRequest.prototype, "type", {
                get: $util.oneOfGetter($oneOfFields = ["get", "put", "release", "connection_info", "init", "connection_cleanup", "acknowledge", "task", "terminate", "list_named_actors"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            DataRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.req_id != null && $Object.hasOwnProperty.call(message, "req_id") && message.req_id !== 0)
                    writer.uint32(8).int32(message.req_id);
                if (message.get != null && $Object.hasOwnProperty.call(message, "get"))
                    $root.ray.rpc.GetRequest.encode(message.get, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.put != null && $Object.hasOwnProperty.call(message, "put"))
                    $root.ray.rpc.PutRequest.encode(message.put, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.release != null && $Object.hasOwnProperty.call(message, "release"))
                    $root.ray.rpc.ReleaseRequest.encode(message.release, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.connection_info != null && $Object.hasOwnProperty.call(message, "connection_info"))
                    $root.ray.rpc.ConnectionInfoRequest.encode(message.connection_info, writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.init != null && $Object.hasOwnProperty.call(message, "init"))
                    $root.ray.rpc.InitRequest.encode(message.init, writer.uint32(50).fork(), _depth + 1).ldelim();
                if (message.connection_cleanup != null && $Object.hasOwnProperty.call(message, "connection_cleanup"))
                    $root.ray.rpc.ConnectionCleanupRequest.encode(message.connection_cleanup, writer.uint32(66).fork(), _depth + 1).ldelim();
                if (message.acknowledge != null && $Object.hasOwnProperty.call(message, "acknowledge"))
                    $root.ray.rpc.AcknowledgeRequest.encode(message.acknowledge, writer.uint32(74).fork(), _depth + 1).ldelim();
                if (message.task != null && $Object.hasOwnProperty.call(message, "task"))
                    $root.ray.rpc.ClientTask.encode(message.task, writer.uint32(82).fork(), _depth + 1).ldelim();
                if (message.terminate != null && $Object.hasOwnProperty.call(message, "terminate"))
                    $root.ray.rpc.TerminateRequest.encode(message.terminate, writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.list_named_actors != null && $Object.hasOwnProperty.call(message, "list_named_actors"))
                    $root.ray.rpc.ClientListNamedActorsRequest.encode(message.list_named_actors, writer.uint32(98).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DataRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.DataRequest();
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
                                message.req_id = value;
                            else
                                delete message.req_id;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.get = $root.ray.rpc.GetRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.get);
                            message.type = "get";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.put = $root.ray.rpc.PutRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.put);
                            message.type = "put";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.release = $root.ray.rpc.ReleaseRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.release);
                            message.type = "release";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.connection_info = $root.ray.rpc.ConnectionInfoRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.connection_info);
                            message.type = "connection_info";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.init = $root.ray.rpc.InitRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.init);
                            message.type = "init";
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            message.connection_cleanup = $root.ray.rpc.ConnectionCleanupRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.connection_cleanup);
                            message.type = "connection_cleanup";
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            message.acknowledge = $root.ray.rpc.AcknowledgeRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.acknowledge);
                            message.type = "acknowledge";
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.task = $root.ray.rpc.ClientTask.decode(reader, reader.size(), $undefined, _depth + 1, message.task);
                            message.type = "task";
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            message.terminate = $root.ray.rpc.TerminateRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.terminate);
                            message.type = "terminate";
                            continue;
                        }
                    case 12: {
                            if (wireType !== 2)
                                break;
                            message.list_named_actors = $root.ray.rpc.ClientListNamedActorsRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.list_named_actors);
                            message.type = "list_named_actors";
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

            return DataRequest;
        })();

        rpc.DataResponse = (function() {

            const DataResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DataResponse.prototype.req_id = 0;
            DataResponse.prototype.get = null;
            DataResponse.prototype.put = null;
            DataResponse.prototype.release = null;
            DataResponse.prototype.connection_info = null;
            DataResponse.prototype.init = null;
            DataResponse.prototype.connection_cleanup = null;
            DataResponse.prototype.task_ticket = null;
            DataResponse.prototype.terminate = null;
            DataResponse.prototype.list_named_actors = null;

            let $oneOfFields;

            $Object.defineProperty(DataResponse.prototype, "type", {
                get: $util.oneOfGetter($oneOfFields = ["get", "put", "release", "connection_info", "init", "connection_cleanup", "task_ticket", "terminate", "list_named_actors"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            DataResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.req_id != null && $Object.hasOwnProperty.call(message, "req_id") && message.req_id !== 0)
                    writer.uint32(8).int32(message.req_id);
                if (message.get != null && $Object.hasOwnProperty.call(message, "get"))
                    $root.ray.rpc.GetResponse.encode(message.get, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.put != null && $Object.hasOwnProperty.call(message, "put"))
                    $root.ray.rpc.PutResponse.encode(message.put, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.release != null && $Object.hasOwnProperty.call(message, "release"))
                    $root.ray.rpc.ReleaseResponse.encode(message.release, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.connection_info != null && $Object.hasOwnProperty.call(message, "connection_info"))
                    $root.ray.rpc.ConnectionInfoResponse.encode(message.connection_info, writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.init != null && $Object.hasOwnProperty.call(message, "init"))
                    $root.ray.rpc.InitResponse.encode(message.init, writer.uint32(50).fork(), _depth + 1).ldelim();
                if (message.connection_cleanup != null && $Object.hasOwnProperty.call(message, "connection_cleanup"))
                    $root.ray.rpc.ConnectionCleanupResponse.encode(message.connection_cleanup, writer.uint32(66).fork(), _depth + 1).ldelim();
                if (message.task_ticket != null && $Object.hasOwnProperty.call(message, "task_ticket"))
                    $root.ray.rpc.ClientTaskTicket.encode(message.task_ticket, writer.uint32(82).fork(), _depth + 1).ldelim();
                if (message.terminate != null && $Object.hasOwnProperty.call(message, "terminate"))
                    $root.ray.rpc.TerminateResponse.encode(message.terminate, writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.list_named_actors != null && $Object.hasOwnProperty.call(message, "list_named_actors"))
                    $root.ray.rpc.ClientListNamedActorsResponse.encode(message.list_named_actors, writer.uint32(98).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DataResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.DataResponse();
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
                                message.req_id = value;
                            else
                                delete message.req_id;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.get = $root.ray.rpc.GetResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.get);
                            message.type = "get";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.put = $root.ray.rpc.PutResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.put);
                            message.type = "put";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.release = $root.ray.rpc.ReleaseResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.release);
                            message.type = "release";
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.connection_info = $root.ray.rpc.ConnectionInfoResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.connection_info);
                            message.type = "connection_info";
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            message.init = $root.ray.rpc.InitResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.init);
                            message.type = "init";
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            message.connection_cleanup = $root.ray.rpc.ConnectionCleanupResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.connection_cleanup);
                            message.type = "connection_cleanup";
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.task_ticket = $root.ray.rpc.ClientTaskTicket.decode(reader, reader.size(), $undefined, _depth + 1, message.task_ticket);
                            message.type = "task_ticket";
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            message.terminate = $root.ray.rpc.TerminateResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.terminate);
                            message.type = "terminate";
                            continue;
                        }
                    case 12: {
                            if (wireType !== 2)
                                break;
                            message.list_named_actors = $root.ray.rpc.ClientListNamedActorsResponse.decode(reader, reader.size(), $undefined, _depth + 1, message.list_named_actors);
                            message.type = "list_named_actors";
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

            return DataResponse;
        })();

        rpc.ClusterInfoType = (function() {

            const ClusterInfoType = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClusterInfoType.encode = function (message, writer, _depth) {
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

            ClusterInfoType.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClusterInfoType();
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

            ClusterInfoType.TypeEnum = (function() {
                const valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "IS_INITIALIZED"] = 0;
                values[valuesById[1] = "NODES"] = 1;
                values[valuesById[2] = "CLUSTER_RESOURCES"] = 2;
                values[valuesById[3] = "AVAILABLE_RESOURCES"] = 3;
                values[valuesById[4] = "RUNTIME_CONTEXT"] = 4;
                values[valuesById[5] = "TIMELINE"] = 5;
                values[valuesById[6] = "PING"] = 6;
                values[valuesById[7] = "DASHBOARD_URL"] = 7;
                return values;
            })();

            return ClusterInfoType;
        })();

        rpc.ClusterInfoRequest = (function() {

            const ClusterInfoRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClusterInfoRequest.prototype.type = 0;

            ClusterInfoRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.type != null && $Object.hasOwnProperty.call(message, "type") && message.type !== 0)
                    writer.uint32(8).int32(message.type);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClusterInfoRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClusterInfoRequest();
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
                                message.type = value;
                            else
                                delete message.type;
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

            return ClusterInfoRequest;
        })();

        rpc.ClusterInfoResponse = (function() {

            const ClusterInfoResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClusterInfoResponse.prototype.type = 0;
            ClusterInfoResponse.prototype.json = null;
            ClusterInfoResponse.prototype.resource_table = null;
            ClusterInfoResponse.prototype.runtime_context = null;

            let $oneOfFields;

            $Object.defineProperty(ClusterInfoResponse.prototype, "response_type", {
                get: $util.oneOfGetter($oneOfFields = ["json", "resource_table", "runtime_context"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            ClusterInfoResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.type != null && $Object.hasOwnProperty.call(message, "type") && message.type !== 0)
                    writer.uint32(8).int32(message.type);
                if (message.json != null && $Object.hasOwnProperty.call(message, "json"))
                    writer.uint32(18).string(message.json);
                if (message.resource_table != null && $Object.hasOwnProperty.call(message, "resource_table"))
                    $root.ray.rpc.ClusterInfoResponse.ResourceTable.encode(message.resource_table, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.runtime_context != null && $Object.hasOwnProperty.call(message, "runtime_context"))
                    $root.ray.rpc.ClusterInfoResponse.RuntimeContext.encode(message.runtime_context, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClusterInfoResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClusterInfoResponse();
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
                                message.type = value;
                            else
                                delete message.type;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.json = reader.stringVerify();
                            message.response_type = "json";
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.resource_table = $root.ray.rpc.ClusterInfoResponse.ResourceTable.decode(reader, reader.size(), $undefined, _depth + 1, message.resource_table);
                            message.response_type = "resource_table";
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.runtime_context = $root.ray.rpc.ClusterInfoResponse.RuntimeContext.decode(reader, reader.size(), $undefined, _depth + 1, message.runtime_context);
                            message.response_type = "runtime_context";
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

            ClusterInfoResponse.ResourceTable = (function() {

                const ResourceTable = function (properties) {
                    this.table = {};
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ResourceTable.prototype.table = $util.emptyObject;

                ResourceTable.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.table != null && $Object.hasOwnProperty.call(message, "table"))
                        for (let keys = $Object.keys(message.table), i = 0; i < keys.length; ++i)
                            writer.uint32(10).fork().uint32(10).string(keys[i]).uint32(17).double(message.table[keys[i]]).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ResourceTable.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.ray.rpc.ClusterInfoResponse.ResourceTable();
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
                                if (message.table === $util.emptyObject)
                                    message.table = {};
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
                                    $util.makeProp(message.table, key);
                                message.table[key] = value;
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

                return ResourceTable;
            })();

            ClusterInfoResponse.RuntimeContext = (function() {

                const RuntimeContext = function (properties) {
                    if (properties)
                        for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                RuntimeContext.prototype.job_id = $util.newBuffer([]);
                RuntimeContext.prototype.node_id = $util.newBuffer([]);
                RuntimeContext.prototype.namespace = "";
                RuntimeContext.prototype.runtime_env = "";
                RuntimeContext.prototype.capture_client_tasks = false;
                RuntimeContext.prototype.gcs_address = "";
                RuntimeContext.prototype.session_name = "";
                RuntimeContext.prototype.worker_id = $util.newBuffer([]);

                RuntimeContext.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.job_id != null && $Object.hasOwnProperty.call(message, "job_id") && message.job_id.length)
                        writer.uint32(10).bytes(message.job_id);
                    if (message.node_id != null && $Object.hasOwnProperty.call(message, "node_id") && message.node_id.length)
                        writer.uint32(18).bytes(message.node_id);
                    if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                        writer.uint32(26).string(message.namespace);
                    if (message.runtime_env != null && $Object.hasOwnProperty.call(message, "runtime_env") && message.runtime_env !== "")
                        writer.uint32(34).string(message.runtime_env);
                    if (message.capture_client_tasks != null && $Object.hasOwnProperty.call(message, "capture_client_tasks") && message.capture_client_tasks !== false)
                        writer.uint32(40).bool(message.capture_client_tasks);
                    if (message.gcs_address != null && $Object.hasOwnProperty.call(message, "gcs_address") && message.gcs_address !== "")
                        writer.uint32(50).string(message.gcs_address);
                    if (message.session_name != null && $Object.hasOwnProperty.call(message, "session_name") && message.session_name !== "")
                        writer.uint32(58).string(message.session_name);
                    if (message.worker_id != null && $Object.hasOwnProperty.call(message, "worker_id") && message.worker_id.length)
                        writer.uint32(66).bytes(message.worker_id);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (let i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                RuntimeContext.decode = function (reader, length, _end, _depth, _target) {
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
                    message = _target || new $root.ray.rpc.ClusterInfoResponse.RuntimeContext();
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
                                if ((value = reader.bytes()).length)
                                    message.job_id = value;
                                else
                                    delete message.job_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.node_id = value;
                                else
                                    delete message.node_id;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.namespace = value;
                                else
                                    delete message.namespace;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.runtime_env = value;
                                else
                                    delete message.runtime_env;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.capture_client_tasks = value;
                                else
                                    delete message.capture_client_tasks;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.gcs_address = value;
                                else
                                    delete message.gcs_address;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.session_name = value;
                                else
                                    delete message.session_name;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.worker_id = value;
                                else
                                    delete message.worker_id;
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

                return RuntimeContext;
            })();

            return ClusterInfoResponse;
        })();

        rpc.KVGetRequest = (function() {

            const KVGetRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVGetRequest.prototype.key = $util.newBuffer([]);
            KVGetRequest.prototype.namespace = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(KVGetRequest.prototype, "_namespace", {
                get: $util.oneOfGetter($oneOfFields = ["namespace"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            KVGetRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.key != null && $Object.hasOwnProperty.call(message, "key") && message.key.length)
                    writer.uint32(10).bytes(message.key);
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    writer.uint32(18).bytes(message.namespace);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVGetRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVGetRequest();
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
                            if ((value = reader.bytes()).length)
                                message.key = value;
                            else
                                delete message.key;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.namespace = reader.bytes();
                            message._namespace = "namespace";
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

            return KVGetRequest;
        })();

        rpc.KVGetResponse = (function() {

            const KVGetResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVGetResponse.prototype.value = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(KVGetResponse.prototype, "_value", {
                get: $util.oneOfGetter($oneOfFields = ["value"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            KVGetResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.value != null && $Object.hasOwnProperty.call(message, "value"))
                    writer.uint32(10).bytes(message.value);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVGetResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVGetResponse();
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
                            message.value = reader.bytes();
                            message._value = "value";
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

            return KVGetResponse;
        })();

        rpc.KVPutRequest = (function() {

            const KVPutRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVPutRequest.prototype.key = $util.newBuffer([]);
            KVPutRequest.prototype.value = $util.newBuffer([]);
            KVPutRequest.prototype.overwrite = false;
            KVPutRequest.prototype.namespace = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(KVPutRequest.prototype, "_namespace", {
                get: $util.oneOfGetter($oneOfFields = ["namespace"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            KVPutRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.key != null && $Object.hasOwnProperty.call(message, "key") && message.key.length)
                    writer.uint32(10).bytes(message.key);
                if (message.value != null && $Object.hasOwnProperty.call(message, "value") && message.value.length)
                    writer.uint32(18).bytes(message.value);
                if (message.overwrite != null && $Object.hasOwnProperty.call(message, "overwrite") && message.overwrite !== false)
                    writer.uint32(24).bool(message.overwrite);
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    writer.uint32(34).bytes(message.namespace);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVPutRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVPutRequest();
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
                            if ((value = reader.bytes()).length)
                                message.key = value;
                            else
                                delete message.key;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.bytes()).length)
                                message.value = value;
                            else
                                delete message.value;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.overwrite = value;
                            else
                                delete message.overwrite;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.namespace = reader.bytes();
                            message._namespace = "namespace";
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

            return KVPutRequest;
        })();

        rpc.KVPutResponse = (function() {

            const KVPutResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVPutResponse.prototype.already_exists = false;

            KVPutResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.already_exists != null && $Object.hasOwnProperty.call(message, "already_exists") && message.already_exists !== false)
                    writer.uint32(8).bool(message.already_exists);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVPutResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVPutResponse();
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
                                message.already_exists = value;
                            else
                                delete message.already_exists;
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

            return KVPutResponse;
        })();

        rpc.KVDelRequest = (function() {

            const KVDelRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVDelRequest.prototype.key = $util.newBuffer([]);
            KVDelRequest.prototype.del_by_prefix = false;
            KVDelRequest.prototype.namespace = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(KVDelRequest.prototype, "_namespace", {
                get: $util.oneOfGetter($oneOfFields = ["namespace"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            KVDelRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.key != null && $Object.hasOwnProperty.call(message, "key") && message.key.length)
                    writer.uint32(10).bytes(message.key);
                if (message.del_by_prefix != null && $Object.hasOwnProperty.call(message, "del_by_prefix") && message.del_by_prefix !== false)
                    writer.uint32(16).bool(message.del_by_prefix);
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    writer.uint32(26).bytes(message.namespace);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVDelRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVDelRequest();
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
                            if ((value = reader.bytes()).length)
                                message.key = value;
                            else
                                delete message.key;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message.del_by_prefix = value;
                            else
                                delete message.del_by_prefix;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.namespace = reader.bytes();
                            message._namespace = "namespace";
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

            return KVDelRequest;
        })();

        rpc.KVDelResponse = (function() {

            const KVDelResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVDelResponse.prototype.deleted_num = 0;

            KVDelResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.deleted_num != null && $Object.hasOwnProperty.call(message, "deleted_num") && message.deleted_num !== 0)
                    writer.uint32(8).int32(message.deleted_num);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVDelResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVDelResponse();
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
                                message.deleted_num = value;
                            else
                                delete message.deleted_num;
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

            return KVDelResponse;
        })();

        rpc.KVListRequest = (function() {

            const KVListRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVListRequest.prototype.prefix = $util.newBuffer([]);
            KVListRequest.prototype.namespace = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(KVListRequest.prototype, "_namespace", {
                get: $util.oneOfGetter($oneOfFields = ["namespace"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            KVListRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.prefix != null && $Object.hasOwnProperty.call(message, "prefix") && message.prefix.length)
                    writer.uint32(10).bytes(message.prefix);
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    writer.uint32(18).bytes(message.namespace);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVListRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVListRequest();
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
                            if ((value = reader.bytes()).length)
                                message.prefix = value;
                            else
                                delete message.prefix;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.namespace = reader.bytes();
                            message._namespace = "namespace";
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

            return KVListRequest;
        })();

        rpc.KVListResponse = (function() {

            const KVListResponse = function (properties) {
                this.keys = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVListResponse.prototype.keys = $util.emptyArray;

            KVListResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.keys != null && message.keys.length)
                    for (let i = 0; i < message.keys.length; ++i)
                        writer.uint32(10).bytes(message.keys[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVListResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVListResponse();
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
                            if (!(message.keys && message.keys.length))
                                message.keys = [];
                            message.keys.push(reader.bytes());
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

            return KVListResponse;
        })();

        rpc.KVExistsRequest = (function() {

            const KVExistsRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVExistsRequest.prototype.key = $util.newBuffer([]);
            KVExistsRequest.prototype.namespace = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(KVExistsRequest.prototype, "_namespace", {
                get: $util.oneOfGetter($oneOfFields = ["namespace"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            KVExistsRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.key != null && $Object.hasOwnProperty.call(message, "key") && message.key.length)
                    writer.uint32(10).bytes(message.key);
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    writer.uint32(18).bytes(message.namespace);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVExistsRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVExistsRequest();
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
                            if ((value = reader.bytes()).length)
                                message.key = value;
                            else
                                delete message.key;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.namespace = reader.bytes();
                            message._namespace = "namespace";
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

            return KVExistsRequest;
        })();

        rpc.KVExistsResponse = (function() {

            const KVExistsResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KVExistsResponse.prototype.exists = false;

            KVExistsResponse.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.exists != null && $Object.hasOwnProperty.call(message, "exists") && message.exists !== false)
                    writer.uint32(8).bool(message.exists);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KVExistsResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.KVExistsResponse();
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
                                message.exists = value;
                            else
                                delete message.exists;
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

            return KVExistsResponse;
        })();

        rpc.ClientPinRuntimeEnvURIRequest = (function() {

            const ClientPinRuntimeEnvURIRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClientPinRuntimeEnvURIRequest.prototype.uri = "";
            ClientPinRuntimeEnvURIRequest.prototype.expiration_s = 0;

            ClientPinRuntimeEnvURIRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.uri != null && $Object.hasOwnProperty.call(message, "uri") && message.uri !== "")
                    writer.uint32(10).string(message.uri);
                if (message.expiration_s != null && $Object.hasOwnProperty.call(message, "expiration_s") && message.expiration_s !== 0)
                    writer.uint32(16).int32(message.expiration_s);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ClientPinRuntimeEnvURIRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClientPinRuntimeEnvURIRequest();
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
                                message.uri = value;
                            else
                                delete message.uri;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.expiration_s = value;
                            else
                                delete message.expiration_s;
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

            return ClientPinRuntimeEnvURIRequest;
        })();

        rpc.ClientPinRuntimeEnvURIResponse = (function() {

            const ClientPinRuntimeEnvURIResponse = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ClientPinRuntimeEnvURIResponse.encode = function (message, writer, _depth) {
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

            ClientPinRuntimeEnvURIResponse.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.ClientPinRuntimeEnvURIResponse();
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

            return ClientPinRuntimeEnvURIResponse;
        })();

        rpc.LogSettingsRequest = (function() {

            const LogSettingsRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            LogSettingsRequest.prototype.enabled = false;
            LogSettingsRequest.prototype.loglevel = 0;

            LogSettingsRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.enabled != null && $Object.hasOwnProperty.call(message, "enabled") && message.enabled !== false)
                    writer.uint32(8).bool(message.enabled);
                if (message.loglevel != null && $Object.hasOwnProperty.call(message, "loglevel") && message.loglevel !== 0)
                    writer.uint32(16).int32(message.loglevel);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            LogSettingsRequest.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.LogSettingsRequest();
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
                                message.enabled = value;
                            else
                                delete message.enabled;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.loglevel = value;
                            else
                                delete message.loglevel;
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

            return LogSettingsRequest;
        })();

        rpc.LogData = (function() {

            const LogData = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            LogData.prototype.msg = "";
            LogData.prototype.level = 0;
            LogData.prototype.name = "";

            LogData.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.msg != null && $Object.hasOwnProperty.call(message, "msg") && message.msg !== "")
                    writer.uint32(10).string(message.msg);
                if (message.level != null && $Object.hasOwnProperty.call(message, "level") && message.level !== 0)
                    writer.uint32(16).int32(message.level);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(26).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            LogData.decode = function (reader, length, _end, _depth, _target) {
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
                message = _target || new $root.ray.rpc.LogData();
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
                                message.msg = value;
                            else
                                delete message.msg;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.level = value;
                            else
                                delete message.level;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
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

            return LogData;
        })();

        return rpc;
    })();

    return ray;
})();

export {
  $root as default
};
