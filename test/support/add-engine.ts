import type { Engine } from '../../src/engines/engine.ts';
import { allEngines, type RegisteredEngine } from '../../src/engines/registry.ts';

/** Adds an engine to this process's registry, which the product never changes; returns a function that removes it. */
export function addEngine(engine: Engine): () => void {
  const engines = allEngines() as RegisteredEngine[];
  const added = engine as unknown as RegisteredEngine;
  engines.push(added);
  return () => void engines.splice(engines.indexOf(added), 1);
}
