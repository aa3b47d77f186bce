import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classesOf } from '../../src/models/log-colors.ts';

test('a colour of a terminal becomes the nearest colour of the page', () => {
  for (const [color, name] of [
    ['31', 'sgr-red'],
    ['97', ''],
    ['92', 'sgr-green'],
    ['38;5;9', 'sgr-red'],
    ['38;5;208', 'sgr-red'],
    ['38;5;226', 'sgr-yellow'],
    ['38;5;240', ''],
    ['38;2;20;30;250', 'sgr-blue'],
    ['38;2;250;20;240', 'sgr-magenta'],
    ['38;2;120;120;120', ''],
    ['38;2;0;0;0', ''],
  ] as const)
    assert.equal(classesOf({ color }), name, color);
  assert.equal(classesOf({ bold: true, dim: true, background: '41' }), 'sgr-bold sgr-dim');
});
