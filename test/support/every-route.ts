import { SCOPES, type Scope } from '../../src/core/scopes.ts';
import type { App } from '../../src/http/server/deps.ts';
import { wholeOperations } from './openapi.ts';

/** A route as the OpenAPI document describes it. */
export interface Route {
  method: string;
  path: string;
  operationId: string;
  /** The scope that the document states; null: none is needed. */
  scope: Scope | null;
  /** Names of its query's parameters. */
  queries: string[];
  /** The path and the query that it needs, with these values for the path's parameters. */
  url(values: Record<string, string>): string;
}

interface Operation {
  operationId: string;
  security?: Record<string, Scope[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema?: { type?: string } }[];
}

/** Every route of an app as `METHOD /path`, those that no document lists included. */
export function allRoutes(app: App): string[] {
  const above: string[] = [];
  return app
    .printRoutes({ commonPrefix: false, includeHooks: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^([│ ]*)[└├]── (\S+) \(([A-Z, ]+)\)$/.exec(line) ?? [];
      if (part === '') return [];
      above.splice(indent.length / 4, Infinity, part);
      return methods
        .split(', ')
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method} ${above.join('')}`);
    });
}

/** Every route of the OpenAPI document. */
export function everyRoute(app: App): Route[] {
  const { paths } = wholeOperations(app.swagger()) as unknown as {
    paths: Record<string, Record<string, Operation>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operationId: operation.operationId,
      scope: scopeOf(operation),
      queries: (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name),
      url: (values: Record<string, string>) => urlOf(path, operation, values),
    })),
  );
}

function scopeOf({ security }: Operation): Scope | null {
  const named = (security ?? []).flatMap((one) => Object.values(one).flat());
  return SCOPES.find((scope) => named.includes(scope)) ?? null;
}

function urlOf(path: string, { parameters = [] }: Operation, values: Record<string, string>): string {
  const needed = parameters.filter((one) => one.in === 'query' && one.required);
  const query = new URLSearchParams(needed.map(({ name }): [string, string] => [name, values[name] ?? '1']));
  const filled = path.replace(/\{([^}]+)\}/g, (_all, name: string) =>
    encodeURIComponent(values[name] ?? '1'),
  );
  return needed.length === 0 ? filled : `${filled}?${query}`;
}
