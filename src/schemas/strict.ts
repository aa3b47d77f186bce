/** Options of an object schema that accepts only the properties it names. */
export const strict = { additionalProperties: false } as const;
