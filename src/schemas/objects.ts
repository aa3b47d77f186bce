import { type TObject, type TProperties, Type } from 'typebox';

/** Objects accept no unknown fields: a misspelt one would otherwise be ignored. */
export const strict = { additionalProperties: false } as const;

/** An object with these fields and no others. */
export const StrictObject = <P extends TProperties>(fields: P, options: object = {}): TObject<P> =>
  Type.Object(fields, { ...strict, ...options });

/** The same, with its own name in the OpenAPI document. */
export const NamedObject = <P extends TProperties>($id: string, fields: P, options: object = {}) =>
  StrictObject(fields, { ...options, $id });

/** The same, with a description. */
export const DescribedObject = <P extends TProperties>(description: string, fields: P) =>
  StrictObject(fields, { description });
