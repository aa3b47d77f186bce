import type { AnyParameters } from './parameters.ts';
import { completeParameters } from './parameters.ts';
import type { EstimatorName, EstimatorParameters } from './registry.ts';
import { estimatorOf } from './registry.ts';

/**
 * Says in one line everything that changes the number, what is omitted being as in the recipe, e.g.
 * `hgpo(K=2,mean_std_norm,alpha=1,base=off,std=population,eps=1e-6,singleton=drop,zero=drop,weight=k+2)`.
 * A variant that the short form does not name is appended, so two fingerprints are equal exactly if the
 * estimators are.
 */
export function fingerprint<N extends EstimatorName>(
  name: N,
  parameters: Partial<EstimatorParameters[N]>,
): string {
  const estimator = estimatorOf(name);
  const complete = completeParameters(estimator.parameters, parameters) as AnyParameters;
  return `${name}(${estimator.fingerprint(complete).join(',')})`;
}
