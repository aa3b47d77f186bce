import { Type } from 'typebox';
import { StrictObject } from './objects.ts';

/** The description of a field as options of its schema; none if it has no description. */
const described = (description: string | undefined) => (description === undefined ? {} : { description });

/** An optional field with one of some texts. */
export const choice = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Optional(Type.Unsafe<T>({ type: 'string', enum: [...values], ...described(description) }));

/** An optional field that is true or false. */
export const flag = (description?: string) => Type.Optional(Type.Boolean(described(description)));

/** An optional field with an integer within both limits. */
export const count = (minimum: number, maximum: number, description?: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, ...described(description) }));

/** An optional field with a number within both limits. */
export const number = (minimum: number, maximum: number, description?: string) =>
  Type.Optional(Type.Number({ minimum, maximum, ...described(description) }));

/** An optional field with a number above 0. */
export const positive = (maximum: number, description?: string) =>
  Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum, ...described(description) }));

/** An optional object that accepts only the fields that it names. */
export const section = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Optional(StrictObject(fields));

/** An optional text of a length within both limits. */
export const text = (minLength: number, maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength, maxLength, description }));
