import { readFileSync, writeFileSync } from 'node:fs';
import { wholeOperations } from './openapi.ts';

/** A JSON schema as the document holds it, as far as it is looked at. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Operation {
  parameters?: { in: string; name: string; required?: boolean; schema?: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** An OpenAPI document, as far as it is looked at. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** What clients rely on. `offers` may grow and never shrink; `needs` may shrink and never grow. */
export interface Surface {
  /** Operations, what they take, their answers, every field with its type, every value of an enumeration. */
  offers: string[];
  /** What a request must carry. */
  needs: string[];
}

/** Where the surface of the last release is kept. */
export const RELEASED_API = new URL('../pure/deploy/released-api.json', import.meta.url);

/** The surface of a document, one line for each thing; lines are sorted. */
export function apiSurface(document: Document): Surface {
  const { paths, components } = wholeOperations(document);
  const offers = new Set<string>();
  const needs = new Set<string>();

  function visit(place: string, schema: Schema | undefined): void {
    if (schema === undefined) return;
    if (schema.$ref) return void offers.add(`${place} is ${schema.$ref.split('/').at(-1)}`);
    for (const type of [schema.type ?? []].flat()) offers.add(`${place} is ${type}`);
    for (const value of schema.enum ?? []) offers.add(`${place} may be ${JSON.stringify(value)}`);
    if (schema.const !== undefined) offers.add(`${place} may be ${JSON.stringify(schema.const)}`);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
      visit(place, one);
      // Whether what is chosen from has a name of its own is nothing to a client: its fields are the choice's.
      if (one.$ref) visit(place, components.schemas[one.$ref.split('/').at(-1)!]);
    }
    visit(`${place}[]`, schema.items);
    for (const [name, field] of Object.entries(schema.properties ?? {})) visit(`${place}.${name}`, field);
  }

  const named = ({ $ref }: Schema): Schema => components.schemas[$ref!.split('/').at(-1)!]!;

  const asked = new Set<string>();
  function ask(place: string, schema: Schema | undefined): void {
    if (schema?.$ref) {
      const name = schema.$ref.split('/').at(-1)!;
      if (asked.has(name)) return;
      asked.add(name);
      ask(name, components.schemas[name]);
      return;
    }
    for (const name of schema?.required ?? []) needs.add(`${place} .${name}`);
    for (const one of [...(schema?.anyOf ?? []), ...(schema?.oneOf ?? [])]) ask(place, one);
    if (schema?.items) ask(`${place}[]`, schema.items);
    for (const [name, field] of Object.entries(schema?.properties ?? {})) ask(`${place}.${name}`, field);
  }

  for (const [name, schema] of Object.entries(components.schemas)) visit(name, schema);
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const place = `${method.toUpperCase()} ${path}`;
      offers.add(place);
      for (const { in: where, name, required, schema } of operation.parameters ?? []) {
        visit(`${place} ${where} ${name}`, schema ?? {});
        if (required) needs.add(`${place} ${where} ${name}`);
      }
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        visit(`${place} body`, schema);
        // Whether a body has a name of its own is nothing to a client.
        if (schema?.$ref) visit(`${place} body`, named(schema));
        ask(`${place} body`, schema);
      }
      if (operation.requestBody?.required) needs.add(`${place} body`);
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        if (status.startsWith('2')) offers.add(`${place} answers ${status}`);
        for (const { schema } of Object.values(content))
          if (status.startsWith('2'))
            for (const one of schema?.$ref ? [schema, named(schema)] : [schema])
              visit(`${place} ${status}`, one);
      }
    }
  }
  return { offers: [...offers].sort(), needs: [...needs].sort() };
}

/** What a client of the released surface would stumble over in this one. */
export function breaks(released: Surface, now: Surface): string[] {
  const offers = new Set(now.offers);
  const needed = new Set(released.needs);
  // What is new may need whatever it likes: a need breaks only where its operation or its object was there before.
  const wasThere = (line: string) => {
    const holder = line.replace(/ (?:\.|header |query |path |body$)[^ ]*$/, '').replace(/ body.*$/, '');
    return released.offers.some((offer) => offer === holder || offer.startsWith(`${holder} `));
  };
  return [
    ...released.offers.filter((line) => !offers.has(line)).map((line) => `gone: ${line}`),
    ...now.needs
      .filter((line) => !needed.has(line) && wasThere(line))
      .map((line) => `needed from now on: ${line}`),
  ];
}

// A release keeps what it offers: `node test/support/api-surface.ts`, then commit what changed.
if (import.meta.main) {
  const document = JSON.parse(readFileSync('src/http/gen/openapi.json', 'utf8')) as Document;
  writeFileSync(RELEASED_API, `${JSON.stringify(apiSurface(document), null, 1)}\n`);
}
