/** The spec in a text. Throws an Error that says where the text is no JSON object. */
export function parseSpec(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The text is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('A spec is a JSON object, such as {"engine": "replay", "name": "my first one"}.');
  return value as Record<string, unknown>;
}
