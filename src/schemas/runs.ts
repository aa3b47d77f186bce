import { type Static, Type } from 'typebox';
import { AttemptEventSchema } from './events.ts';
import { Rules } from './rules.ts';
import { Label, Name } from './spec-parts.ts';
import { strict } from './strict.ts';

/** The body that opens an external run. */
export const RunSpec = Type.Object(
  {
    name: Label,
    project: Type.Optional(Name),
    silenceSeconds: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 604_800,
        description: 'The run fails if its client sends nothing for this time, in seconds. Default: 900.',
      }),
    ),
    rules: Type.Optional(Rules),
  },
  strict,
);
/** See {@link RunSpec}. */
export type RunSpec = Static<typeof RunSpec>;

/** The answer to an opened run. */
export const RunOpened = Type.Object(
  {
    id: Type.String(),
    self: Type.String({ description: 'Path of the experiment.' }),
    events: Type.String({ description: 'Path to which the client sends events.' }),
    token: Type.String({
      description:
        'Lease token, to be sent with the events. Empty if a repeated request names a run that has ended.',
    }),
  },
  { ...strict, $id: 'RunOpened' },
);
/** See {@link RunOpened}. */
export type RunOpened = Static<typeof RunOpened>;

/** Events of one request. */
const MAX_RUN_EVENTS = 256;

/** The body that appends events to a run. */
export const RunEvents = Type.Object(
  {
    token: Type.String({ maxLength: 64, description: 'Lease token of the run.' }),
    events: Type.Array(
      Type.Object(
        {
          sequence: Type.Integer({ minimum: 1, description: 'Number of the event in the run, from 1.' }),
          at: Type.Integer({ minimum: 0, description: 'Time at which it arose, in ms since 1970.' }),
          event: AttemptEventSchema,
          data: Type.Optional(
            Type.String({
              pattern: '^[A-Za-z0-9+/]*={0,2}$',
              description: 'For `batch` only: the bytes of the part, in Base64.',
            }),
          ),
        },
        strict,
      ),
      {
        maxItems: MAX_RUN_EVENTS,
        description: 'Events in order. An empty list only says that the run continues.',
      },
    ),
  },
  strict,
);
/** See {@link RunEvents}. */
export type RunEvents = Static<typeof RunEvents>;

/** How far a run is recorded. */
export const RunProgress = Type.Object(
  {
    last: Type.Integer({ minimum: 0, description: 'Number of the last recorded event; 0 before the first.' }),
  },
  { ...strict, $id: 'RunProgress' },
);
/** See {@link RunProgress}. */
export type RunProgress = Static<typeof RunProgress>;
