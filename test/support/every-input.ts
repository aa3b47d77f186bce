import { globSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parse } from 'protobufjs';
import { parse as parseYaml } from 'yaml';
import { ADAPTERS } from '../../packages/echelon-verify/src/dumps/registry.ts';
import { TOOLS } from '../../src/cli/mcp/tools.ts';
import { createProgram } from '../../src/cli/program.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { allEngines } from '../../src/engines/registry.ts';
import type { App } from '../../src/http/server/deps.ts';
import { SubscriptionInput } from '../../src/schemas/subscription.ts';
import { allRoutes } from './every-route.ts';

/*
 * Every input of Echelon, from the registries that the program itself uses, so that a new one cannot be forgotten. An input
 * has a kind and a name: `POST /v1/keys`, `spec checkpointStore.url`, `setting REDIS_URL`, `message Node.labels`.
 */

/** A JSON schema, as far as it is looked at. */
export interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** The schemas inside a schema, each with its path; `[]` for the items of a list, `*` for the values of a record. */
export function partsOf(schema: Schema, path = ''): [string, Schema][] {
  const inner: [string, Schema][] = [
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((one): [string, Schema] => [path, one]),
    ...Object.entries(schema.properties ?? {}).map(([key, one]): [string, Schema] => [
      path === '' ? key : `${path}.${key}`,
      one,
    ]),
    ...Object.values(schema.patternProperties ?? {}).map((one): [string, Schema] => [`${path}.*`, one]),
    ...(schema.items ? [[`${path}[]`, schema.items] as [string, Schema]] : []),
  ];
  return [[path, schema], ...inner.flatMap(([at, one]) => partsOf(one, at))];
}

/** The fields of every engine's spec by dotted paths; a field of several engines stands once. */
function specFields(): string[] {
  return allEngines().flatMap(({ schema }) =>
    partsOf(schema as Schema).flatMap(([path]) => (path === '' ? [] : [path])),
  );
}

const PLACE_ARGUMENTS = /^(file|paths?|place|module:function)$/;
const PLACE_OPTIONS = /<(file|directory|url|path|program|address(es)?\.*|host:port|name=address)>/;

/** Arguments and options of the command line that name a file, a folder, a place or an address. */
async function commandInputs(): Promise<string[]> {
  const program = await createProgram({ line: () => undefined, remark: () => undefined } as never);
  const inputs = (command: Command, name: string): string[] => [
    ...command.registeredArguments
      .filter((one) => PLACE_ARGUMENTS.test(one.name()))
      .map((one) => `${name} ${one.name().toUpperCase()}`),
    ...command.options.filter(({ flags }) => PLACE_OPTIONS.test(flags)).map(({ long }) => long!),
    ...command.commands.flatMap((sub) => inputs(sub, `${name} ${sub.name()}`)),
  ];
  return program.commands.flatMap((one) => inputs(one, one.name()));
}

/** Fields of the messages that a ray-worker sends. */
function messageFields(): string[] {
  const path = 'proto/echelon/rayworker/v1/rayworker.proto';
  const { root } = parse(readFileSync(path, 'utf8'), { keepCase: true });
  const space = root.lookup('echelon.rayworker.v1') as unknown as {
    lookupType(name: string): {
      name: string;
      fieldsArray: { name: string; type: string; resolve(): { resolvedType: { name: string } | null } }[];
    };
  } & { lookupService(name: string): { methodsArray: { responseType: string }[] } };
  const names = new Set<string>();
  const visit = (name: string): void => {
    const type = space.lookupType(name);
    if (names.has(type.name)) return;
    names.add(type.name);
    for (const field of type.fieldsArray) {
      const of = field.resolve().resolvedType;
      if (of && 'fieldsArray' in of) visit(field.type);
    }
  };
  for (const { responseType } of space.lookupService('RayWorker').methodsArray) visit(responseType);
  return [...names].flatMap((name) =>
    space.lookupType(name).fieldsArray.map((field) => `${name}.${field.name}`),
  );
}

function actionInputs(): string[] {
  const { inputs } = parseYaml(readFileSync('deploy/action/action.yml', 'utf8')) as { inputs: object };
  return Object.keys(inputs);
}

/** Kinds of the targets of notifications. */
function receivers(): string[] {
  const targets = SubscriptionInput.properties.target as unknown as {
    anyOf: { properties: { kind: Schema } }[];
  };
  return targets.anyOf.flatMap(({ properties: { kind } }) => (kind.enum ?? [kind.const]).map(String));
}

/** Variables that Python code reads on the cluster or beside a trainer. */
function pythonVariables(): string[] {
  return globSync('deploy/{ray-worker,capture,python}/**/*.py')
    .filter((path) => !/tests?\//.test(path))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/["'](ECHELON_[A-Z_]+)["']/g)].map(([, name]) => name!),
    );
}

/** All inputs as `kind name`, except the routes, which an app has. */
export async function everyInput(app: App): Promise<string[]> {
  const kinds: Record<string, readonly string[]> = {
    route: allRoutes(app),
    spec: specFields(),
    setting: Object.values(SETTINGS).map(({ variable }) => variable),
    variable: pythonVariables(),
    format: ADAPTERS.map(({ name }) => name),
    message: messageFields(),
    receiver: receivers(),
    tool: TOOLS.flatMap(({ name, input }) => [name, ...Object.keys(input).map((key) => `${name}.${key}`)]),
    command: await commandInputs(),
    action: actionInputs(),
  };
  return Object.entries(kinds).flatMap(([kind, names]) =>
    [...new Set(names)].map((name) => `${kind} ${name}`),
  );
}
