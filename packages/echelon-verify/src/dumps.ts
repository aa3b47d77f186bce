/** `echelon-verify/dumps`: adapters of the dumps of trainers. */

export { mappingFromTexts } from './dumps/adapter.ts';
export { ALL_ADAPTERS } from './dumps/steps/registry.ts';
