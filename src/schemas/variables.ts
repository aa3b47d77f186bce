import { type Static, Type } from 'typebox';
import { strict } from './objects.ts';

/** Plain environment variables. Values of secrets come from `secrets`. */
export const Variables = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }),
  Type.String({ maxLength: 4096, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
  {
    ...strict,
    maxProperties: 64,
    description:
      'Environment variables of the driver and of its Ray processes, in plain text. Variables of a spec replace those of its cluster.',
  },
);
export type Variables = Static<typeof Variables>;
