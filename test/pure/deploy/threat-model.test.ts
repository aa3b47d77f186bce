import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { everyInput, partsOf, type Schema } from '../../support/every-input.ts';
import { everyRoute } from '../../support/every-route.ts';
import { appFor } from '../../support/http-app.ts';

/*
 * docs/explanation/threat-model.md answers six questions about every input. The inputs come from the program's own registries,
 * so that a feature with a new one fails here until the page says who sets it, what it reaches and what bounds it.
 */

const OIDC = {
  issuer: 'https://id.example',
  clientId: 'a',
  clientSecret: 'b',
  scopes: 'openid',
  groupsClaim: 'groups',
  grants: [],
};
const { app } = await appFor({ after }, { settings: { oidc: OIDC } });
const inputs = await everyInput(app);

/** The kinds of inputs that a section of the page lists. */
const SECTIONS: Record<string, readonly string[]> = {
  Routes: ['route'],
  'Fields of a spec': ['spec'],
  'Settings and variables': ['setting', 'variable'],
  'Messages of a ray-worker': ['message'],
  'Files and stored data': ['format'],
  'Receivers and providers': ['receiver'],
  'Tools of the Model Context Protocol': ['tool'],
  'Arguments that name a file, a place or an address': ['command'],
  'Inputs of the action': ['action'],
};
/** What must come before `*`: a resource of the API, or a name. A row for everything would answer nothing. */
const GROUP = /^([A-Z]+ \/(v1\/)?[a-z]+|ECHELON_[A-Z]|REDIS_|[A-Za-z])/;

interface Row {
  section: string;
  patterns: string[];
  cells: string[];
}

const page = readFileSync('docs/explanation/threat-model.md', 'utf8');
const rows: Row[] = page
  .slice(page.indexOf('## Every input'))
  .split('\n### ')
  .slice(1)
  .flatMap((part) => {
    const [section = '', ...lines] = part.split('\n');
    return lines
      .filter((line) => /^\| (?!input |---)/.test(line))
      .map((line) => line.slice(2, -2).split(' | '))
      .map((cells) => ({
        section,
        cells,
        patterns: [...cells[0]!.matchAll(/`([^`]+)`/g)].map(([, one]) => one!),
      }));
  });

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
const kindOf = (input: string): string => input.slice(0, input.indexOf(' '));
const nameOf = (input: string): string => input.slice(input.indexOf(' ') + 1);
const rowsOf = (input: string): Row[] =>
  rows.filter(
    ({ section, patterns }) =>
      SECTIONS[section]?.includes(kindOf(input)) && patterns.some((one) => matches(one, nameOf(input))),
  );

test('every route, spec field, setting, message, format, receiver, tool and argument has a row', () => {
  assert.ok(inputs.length > 600, `${inputs.length} inputs`);
  assert.deepEqual(
    inputs.filter((input) => rowsOf(input).length === 0),
    [],
  );
});

test('every row answers all questions, and names inputs that exist', () => {
  for (const { section, patterns, cells } of rows) {
    assert.equal(cells.length, 7, cells[0]);
    for (const cell of cells)
      assert.ok(cell.trim() !== '' && !/nothing bounds|unbounded|todo/i.test(cell), cells[0]);
    // Files that are no dump of a trainer have no registry.
    if (section === 'Files and stored data') continue;
    const named = inputs.filter((input) => SECTIONS[section]?.includes(kindOf(input))).map(nameOf);
    for (const pattern of patterns) {
      if (pattern.includes('*')) assert.match(pattern.slice(0, -1), GROUP, pattern);
      assert.ok(
        named.some((name) => matches(pattern, name)),
        `there is no ${pattern}`,
      );
    }
  }
});

test('the row of a route names the scope that the route needs', () => {
  const wrong = everyRoute(app).filter(({ method, path, scope }) => {
    const named = rowsOf(`route ${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    return (
      scope !== null &&
      !named.some(({ cells }) => cells[1]!.includes(scope) || /\bcaller\b|anyone/.test(cells[1]!))
    );
  });
  assert.deepEqual(
    wrong.map(({ method, path, scope }) => `${method} ${path} ${scope}`),
    [],
  );
});

/** Whether a pattern lets through texts of any length. */
function isEndless(pattern: string): boolean {
  const plain = pattern
    .replaceAll(/\(\?![^()]*\)/g, '')
    .replaceAll(/\\./g, 'c')
    .replaceAll(/\[[^\]]*\]/g, 'c');
  return !plain.startsWith('^') || !plain.endsWith('$') || /[*+]|\{\d+,\}/.test(plain);
}

/** What of a schema lets a text, a list or a record grow without end. */
function endless(schema: Schema): string[] {
  return partsOf(schema).flatMap(([path, one]) => {
    const types = [one.type].flat();
    const isFixed = one.enum !== undefined || one.const !== undefined;
    const text =
      types.includes('string') && !isFixed && one.maxLength === undefined && isEndless(one.pattern ?? '');
    const list =
      one.items !== undefined && one.maxItems === undefined && !(one.uniqueItems && one.items.enum);
    const record =
      (one.patternProperties !== undefined || typeof one.additionalProperties === 'object') &&
      one.maxProperties === undefined;
    return text || list || record ? [path] : [];
  });
}

/** Bodies whose bound is another: events have those of `event-bounds.ts`, and a file that of uploads. */
const BOUNDED_ELSEWHERE = ['appendRunEvents', 'verifyFile'];

test('every text, list and record of a request has a largest length in its schema', () => {
  const { paths, components } = app.swagger() as unknown as {
    paths: Record<
      string,
      Record<string, { operationId: string; requestBody?: { content: Record<string, { schema: Schema }> } }>
    >;
    components: { schemas: Record<string, Schema> };
  };
  const whole = (value: unknown, above: readonly string[] = []): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const [, name] = /^#\/components\/schemas\/(.+)$/.exec((value as { $ref?: string }).$ref ?? '') ?? [];
    if (name !== undefined)
      return above.includes(name) ? {} : whole(components.schemas[name], [...above, name]);
    if (Array.isArray(value)) return value.map((one) => whole(one, above));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, whole(one, above)]));
  };
  const found = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, requestBody }) =>
      BOUNDED_ELSEWHERE.includes(operationId)
        ? []
        : Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
            endless(whole(schema) as Schema).map((path) => `${operationId} ${path}`),
          ),
    ),
  );
  assert.deepEqual([...new Set(found)], []);
});
