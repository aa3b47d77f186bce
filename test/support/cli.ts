import { CliError } from 'command-kit/exit';
import type { Output } from 'command-kit/output';
import { Command } from 'commander';
import { type Client, createClient } from '../../src/cli/client.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { Store } from '../../src/store/store.ts';
import { appFor, type TestAppOptions, TOKEN } from './http-app.ts';
import { type Scope, storeFor } from './store.ts';

/** An Output that keeps what is written. */
export interface KeptOutput extends Output {
  lines: string[];
  remarks: string[];
  /** The lines, as one JSON document. */
  json<T>(): T;
}

/** See {@link KeptOutput}. */
export function keptOutput(): KeptOutput {
  const [lines, remarks]: string[][] = [[], []];
  return {
    lines: lines!,
    remarks: remarks!,
    line: (text = '') => void lines!.push(text),
    remark: (text) => void remarks!.push(text),
    json: <T>() => JSON.parse(lines!.join('\n')) as T,
  };
}

/** Runs one of `commands` as the program would; returns its exit status and its error. */
export async function runCommand(
  commands: Command[],
  argv: string[],
): Promise<{ exitCode: number; error?: Error }> {
  const program = new Command('echelon').exitOverride().configureOutput({ writeErr: () => undefined });
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return { exitCode: 0 };
  } catch (error) {
    if (error instanceof CliError) return { exitCode: error.exitCode, error };
    throw error;
  }
}

/** Runs the whole program with these arguments; its exit status and its error. */
export async function runProgram(
  output: Output,
  argv: string[],
): Promise<{ exitCode: number; error?: Error }> {
  const program = await createProgram(output, { argv, isSilent: true });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return { exitCode: 0 };
  } catch (error) {
    if (error instanceof CliError) return { exitCode: error.exitCode, error };
    throw error;
  }
}

/** A listening API over a store on a private Redis, without a dispatcher: what is submitted waits. */
export async function apiFor(
  scope: Scope,
  settings: TestAppOptions['settings'] = {},
): Promise<{ store: Store; client: Client; connection: string[] }> {
  const { store } = await storeFor(scope);
  const { app } = await appFor(scope, { store, settings });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { store, client: createClient({ url, token: TOKEN }), connection: ['--url', url, '--token', TOKEN] };
}
