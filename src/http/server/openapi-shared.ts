import { STATUS_CODES } from 'node:http';

/** A response or a parameter of an operation, or a reference to a shared one. */
type Part = { $ref?: string; description?: string; in?: string; name?: string };

/** The parts of an OpenAPI document that are shared here. */
interface Shareable {
  paths: Record<string, Record<string, { parameters?: Part[]; responses?: Record<string, Part> }>>;
  components?: object;
}

/**
 * Replaces repeated error responses and parameters by references to `components`: they are most of the document. Of
 * several parts with one name, the most frequent is shared and the others are not moved. Changes the document.
 */
export function shareRepeated(document: Shareable): void {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const answers = operations.flatMap(({ responses = {} }) => Object.entries(responses));
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const shared = {
    parameters: repeated(parameters.map((parameter) => [parameterName(parameter), parameter])),
    responses: repeated(
      answers
        .filter(([status]) => status >= '300')
        .map(([status, answer]) => [responseName(status, answer), answer]),
    ),
  };
  for (const operation of operations) {
    for (const [status, answer] of Object.entries(operation.responses ?? {}))
      operation.responses![status] = reference('responses', shared.responses, answer);
    operation.parameters &&= operation.parameters.map((one) =>
      reference('parameters', shared.parameters, one),
    );
  }
  document.components = { ...document.components, ...shared };
}

/** The error codes that the description lists, or the words of the status: `InvalidRequestOrInvalidCursor`. */
function responseName(status: string, { description = '' }: Part): string {
  const codes = [...description.matchAll(/`([a-z-]+)`:/g)].map(([, code]) => code!);
  return [...new Set(codes.length > 0 ? codes : [STATUS_CODES[status] ?? status])].map(pascal).join('Or');
}

const parameterName = ({ in: where = '', name = '' }: Part): string => pascal(`${where}-${name}`);

const pascal = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** The parts that occur more than once, by name; the most frequent one takes a name. */
function repeated(named: [name: string, part: Part][]): Record<string, Part> {
  const groups = Object.values(Object.groupBy(named, ([, part]) => JSON.stringify(part)));
  const found: Record<string, Part> = {};
  for (const group of groups.sort((a, b) => b!.length - a!.length)) {
    const [name, part] = group![0]!;
    if (group!.length > 1) found[name] ??= part;
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function reference(kind: string, shared: Record<string, Part>, part: Part): Part {
  const text = JSON.stringify(part);
  const name = Object.keys(shared).find((one) => JSON.stringify(shared[one]) === text);
  return name === undefined ? part : { $ref: `#/components/${kind}/${name}` };
}
