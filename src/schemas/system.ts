import { type Static, Type } from 'typebox';
import { Text } from './answer-parts.ts';
import { NamedObject, StrictObject } from './objects.ts';

/** How an installation is: its version, and what an operator must look at. */
export const System = NamedObject('System', {
  version: Text('Version of the api.'),
  checks: Type.Array(
    StrictObject({
      name: Text('What was checked.'),
      ok: Type.Boolean(),
      found: Text('What was found.'),
      remedy: Text('What to do; empty if nothing is to be done.'),
    }),
  ),
});
export type System = Static<typeof System>;
