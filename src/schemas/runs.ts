import { type Static, Type } from 'typebox';
import { CountOf, Text } from './answer-parts.ts';
import { AttemptEventSchema } from './events.ts';
import { NamedObject, StrictObject } from './objects.ts';
import { count } from './optional-fields.ts';
import { Rules } from './rules.ts';
import { Label, Name } from './spec-parts.ts';

/** The body that opens an external run. */
export const RunSpec = StrictObject({
  name: Label,
  project: Type.Optional(Name),
  silenceSeconds: count(
    60,
    604_800,
    'The run fails if its client sends nothing for this time, in seconds. Default: 900.',
  ),
  rules: Type.Optional(Rules),
});
export type RunSpec = Static<typeof RunSpec>;

/** The answer to an opened run. */
export const RunOpened = NamedObject('RunOpened', {
  id: Type.String(),
  self: Text('Path of the experiment.'),
  events: Text('Path to which the client sends events.'),
  token: Text(
    'Lease token, to be sent with the events. Empty if a repeated request names a run that has ended.',
  ),
});
export type RunOpened = Static<typeof RunOpened>;

/** Events of one request. */
const MAX_RUN_EVENTS = 256;

/** The body that appends events to a run. */
export const RunEvents = StrictObject({
  token: Type.String({ maxLength: 64, description: 'Lease token of the run.' }),
  events: Type.Array(
    StrictObject({
      sequence: Type.Integer({ minimum: 1, description: 'Number of the event in the run, from 1.' }),
      at: CountOf('Time at which it arose, in ms since 1970.'),
      event: AttemptEventSchema,
      data: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9+/]*={0,2}$',
          description: 'For `batch` only: the bytes of the part, in Base64.',
        }),
      ),
    }),
    {
      maxItems: MAX_RUN_EVENTS,
      description: 'Events in order. An empty list only says that the run continues.',
    },
  ),
});
export type RunEvents = Static<typeof RunEvents>;

/** How far a run is recorded. */
export const RunProgress = NamedObject('RunProgress', {
  last: CountOf('Number of the last recorded event; 0 before the first.'),
});
export type RunProgress = Static<typeof RunProgress>;
