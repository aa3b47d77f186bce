import { type Static, Type } from 'typebox';
import { createCheck } from '../schemas/check.ts';
import { strict } from '../schemas/strict.ts';

/** The configuration file of the command line: APIs by name, and which of them is current. */
export const ConfigFile = Type.Object(
  {
    current: Type.Optional(Type.String({ description: 'Name of the context that is used by default' })),
    contexts: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            url: Type.String({ pattern: '^https?://', description: 'Address of an API' }),
            token: Type.Optional(
              Type.String({ minLength: 1, description: 'Requires that only the user can read the file' }),
            ),
            tokenFile: Type.Optional(
              Type.String({
                minLength: 1,
                description: 'File that holds the token; `~/` is the home directory',
              }),
            ),
          },
          strict,
        ),
      ),
    ),
  },
  strict,
);
/** See {@link ConfigFile}. */
export type ConfigFile = Static<typeof ConfigFile>;

/** The problems of a configuration; none if it is valid. */
export const checkConfig = createCheck(ConfigFile);
