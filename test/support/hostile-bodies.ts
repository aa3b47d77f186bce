/*
 * Inputs that are made to cost much: each as large as a request may be, so that a part of the server which is not linear
 * in its input shows.
 */

/** Pieces that expressions look for, and neighbours that make them look twice. */
export const PIECES: readonly string[] = [
  'a',
  'A0',
  '0',
  ' ',
  '/',
  '~1',
  '.',
  '-',
  '=',
  '"',
  '\\',
  '\n',
  '}',
  'é',
  '$' + '{',
  'a=',
  'a.',
  'a/',
  '/secrets',
  '/secrets/',
  'secrets.',
  '~1secrets~1a',
  'token=',
  'password',
  'bearer ',
  'hf_',
  'sk-',
  'eyJ',
  'eyJa.',
  '://',
  '://a:',
  'https://a:b',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY',
  '-----END ',
  'w.@/+~-',
];

const repeated = (piece: string, size: number): string =>
  piece.repeat(Math.ceil(size / piece.length)).slice(0, size);

/** Texts of `size` characters, each of one piece repeated, with an end that lets a match fail at the last moment. */
export function hostileTexts(size: number, pieces: readonly string[] = PIECES): string[] {
  return pieces.map((piece) => `${repeated(piece, size - 1)}\u0001`);
}

/** Values of about `size` bytes of JSON whose shape is the attack: many members, long keys above many members. */
export function hostileShapes(size: number): Record<string, unknown> {
  const list = (one: string) =>
    Array.from({ length: Math.floor(size / (one.length + 1)) }, () => JSON.parse(one));
  const keys = (most: number, start = '') =>
    Object.fromEntries(
      Array.from({ length: Math.floor(most / (start.length + 15)) }, (_, at) => [`${start}${at}`, 'abcd']),
    );
  const long = repeated('/secrets', size / 2);
  return {
    'a list of empty objects': list('{}'),
    'a list of null': list('null'),
    'a list of short texts': list('"a"'),
    'a list of texts with an assignment': list('"api_key=a"'),
    'an object of many keys': keys(size),
    'an object of many keys below a long prefix': keys(size, 'trainer.a.b.c.d.'),
    'a long key above many keys': { [long]: keys(size / 2) },
    'a long key above one key': { [repeated('/secrets', size - 100)]: { x: 'abcd' } },
    'a long key above many texts': { [long]: Array.from({ length: size / 8 }, () => 'abcd') },
    'objects in one another below long keys': nested(60, repeated('k', Math.floor(size / 70))),
  };
}

function nested(depth: number, key: string): unknown {
  return depth === 0 ? 'x' : { [key]: nested(depth - 1, key) };
}
