// Writes what trainers' settings mean (trainers.json) into form_table.py, which the captures read.
import { writeFileSync } from 'node:fs';
import { type AnyParameters, completeParameters, estimatorOf } from 'echelon-verify/kernel';
import { KNOWN_FORMS, type KnownForm } from '../../packages/echelon-verify/src/identify/fingerprints.ts';
import { pythonValue, snake } from '../sources/python-text.ts';

const TABLE_PY = 'deploy/capture/echelon_capture/form_table.py';
/** Trainers that a capture follows. */
const CAPTURED = ['trl', 'verl', 'verl-agent'];

function formsOf(trainer: string): string {
  const forms = KNOWN_FORMS.filter((form) => form.trainer === trainer && form.when !== undefined);
  return `    ${JSON.stringify(trainer)}: (\n${forms.map(pythonForm).join('')}    ),\n`;
}

function pythonForm({ estimator: name, params, when = [], from = {} }: KnownForm): string {
  const estimator = estimatorOf(name);
  const complete = completeParameters(estimator.parameters, params) as AnyParameters;
  const { tokens = [] } = estimator.uses(complete);
  const settings = Object.fromEntries(Object.entries(from).map(([key, setting]) => [snake(key), setting]));
  const named = Object.fromEntries(Object.entries(params).map(([key, value]) => [snake(key), value]));
  return `        Form(
            when=${tupleOf(when.map((one) => dictOf(one, (value) => tupleOf([value].flat().map(pythonValue)))))},
            estimator=${dictOf({ name, ...named }, pythonValue)},
            settings=${dictOf(settings, pythonValue)},
            tokens=${tupleOf(tokens.map((one) => pythonValue(snake(one))))},
        ),
`;
}

function dictOf<V>(object: Readonly<Record<string, V>>, text: (value: V) => string): string {
  const pairs = Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}: ${text(value)}`);
  return `{${pairs.join(', ')}}`;
}

function tupleOf(items: readonly string[]): string {
  return `(${items.join(', ')}${items.length === 1 ? ',' : ''})`;
}

const table = `"""The forms of every trainer that a capture follows. Generated from packages/echelon-verify/src/identify/trainers.json by \`npm run generate\`."""

from __future__ import annotations

from .form import Form

FORMS: dict[str, tuple[Form, ...]] = {
${CAPTURED.map(formsOf).join('')}}
`;
writeFileSync(TABLE_PY, table);
