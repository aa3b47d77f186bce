import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import { table } from 'command-kit/table';
import { DEFAULT_CLIENT_PORT, namesPort, parseAddress } from 'ray-client-ts/address';
import type { Resources } from 'ray-client-ts/cluster';
import { functionRef } from 'ray-client-ts/code';
import { connect, type RayConnectOptions } from 'ray-client-ts/connect';
import type { RayConnection } from 'ray-client-ts/connection';
import { credentialsFromEnvironment } from 'ray-client-ts/credentials';
import { RayError, RayPythonError } from 'ray-client-ts/errors';

/** The input of every command on a Ray cluster. */
export interface RayTarget {
  /** `ray://host:port`. */
  readonly address: string;
  readonly output: Output;
  /** Variables with token and keys (RAY_AUTH_TOKEN, RAY_USE_TLS and others). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Overrides the environment. */
  readonly token?: string | undefined;
  readonly namespace?: string | undefined;
  readonly json?: boolean | undefined;
}

/** The output of `echelon ray status --json`. */
interface RayStatus {
  readonly rayVersion: string;
  readonly pythonVersion: string;
  readonly nodes: Awaited<ReturnType<RayConnection['nodes']>>;
  readonly resources: Resources;
  readonly available: Resources;
}

/** `echelon ray status ADDRESS`: versions, nodes, free and total resources. */
export async function rayStatus(target: RayTarget): Promise<void> {
  await withConnection(target, {}, async (ray) => {
    const [nodes, resources, available] = await Promise.all([
      ray.nodes(),
      ray.clusterResources(),
      ray.availableResources(),
    ]);
    const { rayVersion, pythonVersion } = ray;
    const status: RayStatus = { rayVersion, pythonVersion, nodes, resources, available };
    target.output.line(target.json ? json(status) : describeStatus(status, target.output.columns));
  });
}

/** `echelon ray call ADDRESS MODULE:FUNCTION`: calls a function of the cluster; `args` is a JSON array. */
export async function rayCall(
  target: RayTarget & { readonly reference: string; readonly args?: string | undefined },
): Promise<void> {
  const fn = usage(() => functionRef(target.reference));
  const args = usage(() => parseArguments(target.args ?? '[]'));
  await withConnection(target, {}, async (ray) => {
    const stop = ray.onLog((log) => target.output.remark(log.text));
    const slow = setTimeout(() => void explainWait(ray, target.output), SLOW_MS);
    const value = await ray.call(fn, args).finally(() => clearTimeout(slow));
    stop();
    target.output.line(target.json || typeof value !== 'string' ? json(printable(value)) : value);
  });
}

/** Says that a call waits for a CPU, if none is free. */
async function explainWait(ray: RayConnection, output: Output): Promise<void> {
  try {
    const [{ CPU: total = 0 }, { CPU: free = 0 }] = await Promise.all([
      ray.clusterResources(),
      ray.availableResources(),
    ]);
    if (free < 1)
      output.remark(`The call waits for a CPU: ${free} of ${total} are free. Ctrl-C ends the wait.`);
  } catch {
    // The call itself reports that the cluster does not answer.
  }
}

/** `echelon ray actors ADDRESS`: the named actors of one namespace or of all. */
export async function rayActors(target: RayTarget): Promise<void> {
  await withConnection(target, {}, async (ray) => {
    const actors = await ray.namedActors({ allNamespaces: target.namespace === undefined });
    const rows = actors.map(({ namespace, name }) => [namespace, name]);
    if (target.json) target.output.line(json(actors));
    else
      target.output.line(
        rows.length === 0 ? 'No named actors.' : table(['NAMESPACE', 'NAME'], rows, target.output.columns),
      );
  });
}

/** `echelon ray kill ADDRESS NAME`: kills a named actor, detached or not, without a restart. */
export async function rayKill(target: RayTarget & { readonly name: string }): Promise<void> {
  await withConnection(target, {}, async (ray) => {
    const { namespace = await onlyNamespaceOf(ray, target.name) } = target;
    const actor = await ray.getActor(target.name, { namespace });
    await actor.kill();
    target.output.line(
      target.json ? json({ killed: { name: target.name, namespace } }) : `killed ${target.name}`,
    );
  });
}

async function onlyNamespaceOf(ray: RayConnection, name: string): Promise<string> {
  const found = (await ray.namedActors({ allNamespaces: true })).filter((actor) => actor.name === name);
  const [only, another] = found;
  if (only === undefined)
    throw new CliError(
      EXIT.notOk,
      `There is no actor ${JSON.stringify(name)}. List the actors with \`echelon ray actors\`.`,
    );
  if (another === undefined) return only.namespace;
  const namespaces = found.map(({ namespace }) => namespace).join(', ');
  throw new CliError(
    EXIT.usage,
    `Several namespaces have an actor ${JSON.stringify(name)}: ${namespaces}. Choose one with --namespace.`,
  );
}

/** After this time without a connection, a message says what the user waits for. */
const SLOW_MS = 2_000;

async function withConnection(
  target: RayTarget,
  options: RayConnectOptions,
  use: (ray: RayConnection) => Promise<void>,
): Promise<void> {
  const credentials = usage(() => credentialsFromEnvironment(target.environment));
  if (usage(() => parseAddress(target.address)) && !namesPort(target.address)) {
    target.output.remark(`note: ${target.address} has no port; trying ${DEFAULT_CLIENT_PORT}`);
  }
  const slow = setTimeout(() => target.output.remark(`connecting to ${target.address}`), SLOW_MS);
  try {
    await using ray = await connect(target.address, {
      ...credentials,
      ...(target.token === undefined ? {} : { token: target.token }),
      ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
      reconnectGraceMs: 0,
      selfTest: false,
      ...options,
    }).finally(() => clearTimeout(slow));
    for (const warning of ray.warnings) target.output.remark(`warning: ${warning}`);
    await use(ray);
  } catch (error) {
    throw asCliError(error);
  }
}

/** An error of the cluster as a message and an exit status. The message includes Python's traceback. */
function asCliError(error: unknown): unknown {
  if (error instanceof TypeError) return new CliError(EXIT.usage, error.message);
  if (!(error instanceof RayError)) return error;
  if (error instanceof RayPythonError && error.pythonTraceback !== '') {
    return new CliError(EXIT.notOk, error.pythonTraceback, error.code);
  }
  const status = { unreachable: EXIT.unreachable, unauthenticated: EXIT.refused, timeout: EXIT.unreachable };
  const exit = error.code in status ? status[error.code as keyof typeof status] : EXIT.notOk;
  const why = error.cause instanceof Error ? `\n  ${error.cause.message}` : '';
  return new CliError(exit, `${error.message}${why}`, error.code);
}

function usage<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new CliError(EXIT.usage, (error as Error).message);
  }
}

function parseArguments(text: string): unknown[] {
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch (error) {
    throw new TypeError(`--args is not JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(args)) throw new TypeError('--args must be a JSON array, one element per argument');
  return args;
}

/** Values that JSON cannot hold: bytes become base64, big integers text, maps and sets arrays. */
function printable(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array, printable);
  if (Array.isArray(value) || value instanceof Set) return [...value].map(printable);
  if (value instanceof Map) return [...value].map((entry) => entry.map(printable));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, printable(member)]));
}

function describeStatus(
  { rayVersion, pythonVersion, nodes, resources, available }: RayStatus,
  width: number | undefined,
): string {
  const alive = nodes.filter((node) => node.alive);
  const rows = alive.map((node) => [
    node.isHead ? 'head' : 'node',
    node.address,
    amount(node.resources.CPU),
    amount(node.resources.GPU),
    node.id.slice(0, 12),
  ]);
  const rowsOfResources = Object.entries(resources)
    .filter(([name]) => !name.startsWith('node:'))
    .map(([name, total]) => [name, quantity(name, available[name] ?? 0), quantity(name, total)]);
  const dead = nodes.length - alive.length;
  return [
    `Ray ${rayVersion}, Python ${pythonVersion}, ${plural(alive.length, 'node')}${dead === 0 ? '' : `, ${dead} dead`}`,
    '',
    table(['ROLE', 'ADDRESS', 'CPUS', 'GPUS', 'ID'], rows, width),
    '',
    table(['RESOURCE', 'FREE', 'TOTAL'], rowsOfResources, width),
  ].join('\n');
}

function amount(value: number | undefined): string {
  return String(value ?? 0);
}

function quantity(name: string, value: number): string {
  return name.endsWith('memory') ? `${(value / 2 ** 30).toFixed(1)} GiB` : String(value);
}
