import { Type } from 'typebox';
import { strict } from './objects.ts';
import { SECRET_NAME } from './secrets.ts';

const SECRET_PROJECTS =
  'Secrets of the cluster, each with the projects whose experiments may name it; `*` is every project. No experiment may name a secret that is not listed. null: no list; only experiments of the project `default` may name secrets.';

/** The projects that may use each secret of a cluster. */
export const SecretProjects = Type.Record(
  Type.String({ pattern: SECRET_NAME }),
  Type.Array(Type.String({ pattern: '^(\\*|[a-z0-9][a-z0-9-]{0,62})$' }), {
    maxItems: 256,
    uniqueItems: true,
  }),
  { ...strict, maxProperties: 256, description: SECRET_PROJECTS },
);

/** {@link SecretProjects} in an answer. */
export const SeenSecretProjects = Type.Record(Type.String(), Type.Array(Type.String()), {
  description: `${SECRET_PROJECTS} A key of a project sees only the entries of its own project.`,
});
