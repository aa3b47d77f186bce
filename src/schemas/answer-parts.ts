import { type Static, type TLiteral, type TObject, type TSchema, type TUnsafe, Type } from 'typebox';
import { PRIORITY_CLASSES } from '../core/priority-class.ts';
import { DescribedObject, StrictObject } from './objects.ts';

/* Parts of many schemas, in the form that the OpenAPI document has, so that generated clients need no hand work. */

/** Says something of a schema. */
type Told = { description?: string };

/** A number of things. */
export const Count = Type.Integer({ minimum: 0 });

/** A {@link Count} with a description. */
export const CountOf = (description: string) => Type.Integer({ minimum: 0, description });

/** A text with a description. */
export const Text = (description: string) => Type.String({ description });

export const Instant = Type.Integer({ description: 'Time in ms since 1970.' });

/** The rows of a batch, or of several, by outcome. */
export const outcomes = { exact: Count, rounding: Count, wrong: Count, unverifiable: Count };

/** One of some texts, as one enumeration: generators make a type of every schema of a choice. */
export function oneOf<const T extends string>(values: readonly T[], told: Told = {}): TUnsafe<T> {
  return Type.Unsafe<T>({ ...told, type: 'string', enum: [...values] });
}

/** The class of an experiment. */
export const PriorityClassOf = oneOf(PRIORITY_CLASSES, {
  description: 'Class: urgent experiments may preempt batch ones.',
});

/** A value of the schema, or null: a list of types, or a choice if the schema has no type of its own. */
export function nullable<T extends TSchema>(schema: T, told: Told = {}): TUnsafe<Static<T> | null> {
  const { type, ...rest } = schema as { type?: unknown; enum?: unknown[]; const?: unknown };
  if (typeof type !== 'string' || rest.const !== undefined)
    return Type.Unsafe({ anyOf: [schema, { type: 'null' }], ...told });
  if (rest.enum) rest.enum = [...rest.enum, null];
  return Type.Unsafe({ ...told, ...rest, type: [type, 'null'], ...told });
}

/** One of some named objects, which the values of `type` tell apart. */
export function tagged<T extends TObject<{ type: TLiteral<string> }>>(
  $id: string,
  oneOf: (T & { $id?: string })[],
): TUnsafe<Static<T>> & { oneOf: T[] } {
  const mapping = Object.fromEntries(
    oneOf.map(({ properties, $id: name }) => [properties.type.const, `#/components/schemas/${name}`]),
  );
  return Type.Unsafe<Static<T>>({ $id, oneOf, discriminator: { propertyName: 'type', mapping } }) as never;
}

/** Of a page: where the next one begins. */
export const Cursor = nullable(Type.String(), {
  description: 'Send it as `cursor` to get the next page; null on the last page.',
});

/** When an experiment that waits is expected to start. */
export const StartEstimate = DescribedObject(
  'Estimated start. The estimate simulates the queue over the expected ends of running experiments, from measured step durations.',
  {
    startAt: Type.Integer({ description: 'Most likely start, in ms since 1970.' }),
    earliest: Instant,
    latest: Instant,
  },
);

export type StartEstimate = Static<typeof StartEstimate>;

/** Where an experiment that waits is expected to start. */
export const ExpectedPlace = DescribedObject(
  'Where the experiment is expected to start; null without an estimate.',
  {
    cluster: Type.String(),
    nodes: Type.Array(Type.String(), { description: 'Ids of the nodes in Ray.' }),
    endAt: nullable(
      Type.Integer({ description: 'Expected end, in ms since 1970; null if the run time is not known.' }),
    ),
    isHead: Type.Boolean({
      description: 'Whether it is the blocked head of a cluster: its start there is reserved.',
    }),
  },
);
export type ExpectedPlace = Static<typeof ExpectedPlace>;

/** Who paused something, when and why. */
export const Pause = StrictObject({
  by: Text('Name of the caller.'),
  at: Instant,
  reason: nullable(Type.String()),
});

export type Pause = Static<typeof Pause>;
