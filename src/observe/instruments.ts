import { Counter, Gauge, type Registry } from 'prom-client';

/** A gauge of `registry`. */
export function gauge<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: L[] = [],
): Gauge<L> {
  return new Gauge({ name, help, labelNames, registers: [registry] });
}

/** A counter of `registry`; shown from its first count on, or from 0 where it has no labels. */
export function counter<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: L[] = [],
): Counter<L> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}
