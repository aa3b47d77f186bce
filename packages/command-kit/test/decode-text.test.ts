import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText } from '../src/decode-text.ts';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

test('UTF-8, with or without a byte order mark, and UTF-16 with one are read', () => {
  const text = 'name: café 学\n';
  const bytes = [
    Buffer.from(text),
    Buffer.from(`\ufeff${text}`),
    utf16(`\ufeff${text}`),
    utf16(`\ufeff${text}`).swap16(),
  ];
  for (const one of bytes) assert.deepEqual(decodeText(one), { text });
});

test('other bytes are refused with the line, and no character is replaced', () => {
  const cases = [
    [Buffer.from('a: 1\nname: caf\u00e9\n', 'latin1'), /^line 2 is not UTF-8.*Latin-1.*UTF-8\.$/],
    [Buffer.from([0x61, 0xc3]), /^line 1 is not UTF-8/],
    [utf16('name: x'), /NUL characters/],
    [Buffer.from([0xff, 0xfe, 0x00, 0xd8]), /UTF-16LE/],
  ] as const;
  for (const [bytes, fault] of cases) {
    const found = decodeText(bytes);
    assert.ok('fault' in found);
    assert.match(found.fault, fault);
  }
});
