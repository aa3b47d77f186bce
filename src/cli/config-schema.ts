import { type Static, Type } from 'typebox';
import { Text } from '../schemas/answer-parts.ts';
import { createCheck } from '../schemas/check.ts';
import { StrictObject } from '../schemas/objects.ts';

/** The configuration file of the command line: APIs by name, and which of them is current. */
export const ConfigFile = StrictObject({
  current: Type.Optional(Text('Name of the context that is used by default')),
  contexts: Type.Optional(
    Type.Record(
      Type.String(),
      StrictObject({
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
      }),
    ),
  ),
});
export type ConfigFile = Static<typeof ConfigFile>;

/** The problems of a configuration; none if it is valid. */
export const checkConfig = createCheck(ConfigFile);
