import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colored, spansOf, withoutControls } from '../src/colors.ts';

const ESC = '\u001b';

test('of the controls of a foreign line only colours pass', () => {
  for (const [line, plain, shown = plain] of [
    ['step 1 \tloss', 'step 1 \tloss'],
    [`${ESC}[31mred${ESC}[0m end`, 'red end', `${ESC}[31mred${ESC}[0m end`],
    [
      `${ESC}[1;38;5;208mbold${ESC}[22m orange`,
      'bold orange',
      `${ESC}[1;38;5;208mbold${ESC}[0m${ESC}[38;5;208m orange${ESC}[0m`,
    ],
    [`${ESC}[38:2:1:2:3mrgb${ESC}[39m-`, 'rgb-', `${ESC}[38;2;1;2;3mrgb${ESC}[0m-`],
    // Neither hidden nor blinking text, nor a colour that is none.
    [`${ESC}[8mhid${ESC}[5mden${ESC}[38;5;999mx${ESC}[38;2;1mz`, 'hiddenxz'],
    [`${ESC}[2J${ESC}[1;1Ha${ESC}]0;title${'\u0007'}b${ESC}]8;;http://x${ESC}\\c`, 'abc'],
    [`a${ESC}Pq#0${ESC}\\b${'\u009b'}31mc${'\u009d'}0;t${'\u009c'}d`, 'abcd', `ab${ESC}[31mcd${ESC}[0m`],
    [`open ${ESC}]0;title`, 'open 0;title'],
    [`a\rb\bc\u0000d${ESC}c${ESC}(Be${ESC}`, 'abcde'],
    ['\u202eevil\u200b', '\\u202eevil\\u200b'],
  ] as const) {
    assert.equal(withoutControls(line), plain);
    assert.equal(colored(line), shown);
    assert.equal(
      spansOf(line)
        .map(({ text }) => text)
        .join(''),
      plain,
    );
  }
});

test('a hostile line costs its length', () => {
  const start = performance.now();
  for (const part of [`${ESC}]`, `${ESC}[`, `${ESC}[1;`, '\u0090', `${ESC} `, `${ESC}[38;`, '\u009b0'])
    withoutControls(part.repeat(100_000));
  assert.ok(performance.now() - start < 2000);
});
