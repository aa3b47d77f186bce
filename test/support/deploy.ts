import { globSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { parse } from 'yaml';
import { apiServerCommand, dispatcherCommand } from '../../src/cli/commands/servers.ts';
import { loadSettings, SETTINGS } from '../../src/config/settings.ts';

/** A service of the compose file, as far as tests look at it. */
export interface Service {
  image?: string;
  profiles?: string[];
  command?: string[];
  environment?: Record<string, string>;
  env_file?: string[];
  networks: string[] | Record<string, { aliases?: string[] }>;
  ports?: string[];
  secrets?: string[];
  volumes?: string[];
  read_only?: boolean;
  healthcheck?: { test: string[] };
  build?: { dockerfile: string };
  stop_grace_period?: string;
  cap_drop?: string[];
  logging?: { options: Record<string, string> };
}

/** docker-compose.yml, its anchors resolved. */
export function readCompose() {
  return parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
    services: Record<string, Service>;
    networks: Record<string, { internal?: boolean }>;
    secrets: Record<string, { file: string }>;
  };
}

/** `${NAME:-default}` replaced by the default, as compose does if the variable is not set. */
export function interpolate(text: string): string {
  return text.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1');
}

/** Names of a service's networks. */
export function networksOf({ networks }: Service): string[] {
  return Array.isArray(networks) ? networks : Object.keys(networks);
}

/**
 * Loads variables as the process would, without files of secrets, which are not here. Throws SettingsError for an
 * unknown variable or a value that cannot be used.
 */
export function acceptEnvironment(environment: Record<string, string>): void {
  const plain = Object.entries(environment).filter(([name]) => !name.endsWith('_FILE'));
  loadSettings(Object.fromEntries(plain.map(([name, value]) => [name, interpolate(String(value))])));
  const files = Object.values<{ variable: string; secret?: true }>(SETTINGS).flatMap((one) =>
    one.secret ? [`${one.variable}_FILE`] : [],
  );
  for (const name of Object.keys(environment))
    if (name.endsWith('_FILE') && !files.includes(name)) throw new Error(`${name} names no secret's file`);
}

/** Parses a command line with the program's own commands, without running anything. Throws for an unknown flag. */
export function acceptCommand(args: readonly string[]): void {
  const program = new Command('echelon').exitOverride();
  const output = {} as Parameters<typeof apiServerCommand>[0];
  for (const command of [apiServerCommand(output), dispatcherCommand(output)])
    program.addCommand(
      command
        .action(() => {})
        .exitOverride()
        .configureOutput({ writeErr: () => {} }),
    );
  program.configureOutput({ writeErr: () => {} }).parse([...args].map(interpolate), { from: 'user' });
}

/** Templates of the chart, by name. */
export function readTemplates(): Map<string, string> {
  return new Map(globSync('helm/echelon/templates/*').map((file) => [file, readFileSync(file, 'utf8')]));
}
