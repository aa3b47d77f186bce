import { type Settings, secretsOf } from '../config/settings.ts';
import { decorate } from '../core/decorate.ts';
import { createHiddenValues, type HiddenValues } from '../core/hidden-values.ts';
import type { Store } from '../store/store.ts';
import type { KnownCluster, RayCluster } from './clusters.ts';

/** What a log of these services must not show, as far as it is known at the start. */
export function hiddenValues(settings: Settings, clusters: (KnownCluster | RayCluster)[]): HiddenValues {
  const hidden = createHiddenValues();
  for (const value of secretsOf(settings)) hidden.hide(value);
  if (settings.redisUrl !== null && URL.canParse(settings.redisUrl))
    hidden.hide(decodeURIComponent(new URL(settings.redisUrl).password));
  for (const cluster of clusters) hidden.hide('token' in cluster ? cluster.token : cluster.rayToken);
  return hidden;
}

/** The same store; the tokens of the clusters that it names are hidden from then on. */
export function hideTokens(store: Store, hidden: HiddenValues): Store {
  return decorate(store, {
    clusters: {
      async list(call) {
        const clusters = await call();
        for (const { token, ray } of clusters) for (const value of [token, ray?.token]) hidden.hide(value);
        return clusters;
      },
    },
  });
}
