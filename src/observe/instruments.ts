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

/** A counter of `registry`. Without labels it is shown from 0 on, with labels from its first count on. */
export function counter<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: L[] = [],
): Counter<L> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}
