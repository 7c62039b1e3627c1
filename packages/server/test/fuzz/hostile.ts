import type { Random } from './random.ts'

/** Literals that JSON.stringify() does not write: they stand in a string until the text is made. */
const literal = (text: string) => `@@${text}@@`
const literals = ['-0', '1e308', '-1e308', '1e999', '9007199254740993', '0.1e-400', '1.5']

/** Values that something behind a parser may stumble over. */
export function hostile(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => '',
    () => random.chance(0.5),
    () => literal(random.pick(literals)),
    () =>
      random.pick([
        '\0',
        'a\0b',
        '\ud800',
        'x\udfff',
        '\u202e',
        '..',
        '.',
        '%2e%2e',
        '__proto__',
        '\r\nx: y',
        '\ufeff',
      ]),
    () => 'x'.repeat(random.pick([257, 1001, 20_000])),
    () => JSON.parse('{"__proto__":{"approve":true},"toString":1,"length":1e9}') as unknown,
    () => nested(random.pick([20, 90, 101, 3000])),
    () => Array.from({ length: random.pick([0, 1, 129, 1001, 12_000]) }, () => random.pick<unknown>([0, '', null, {}])),
    () => [[[]]],
    () => ({}),
    () => ({ $ref: '#', $bytes: '', $map: { length: 1e9 } }),
    () => random.below(1e9),
  ])()
}

/** The same where only text fits, as in a URL. */
export function hostileText(random: Random): string {
  const value = hostile(random)
  return typeof value === 'string' ? value : jsonOf(value)
}

const names = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'extra',
  '',
  '\0',
  'x'.repeat(5000),
  'then',
  'length',
]

export function hostileName(random: Random): string {
  return random.pick(names)
}

/** Writes a value as JSON, with its literals. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"@@([^"@]+)@@"/g, '$1')
}

/** A chain of lists; it is text, so that nothing here recurses. */
function nested(depth: number): unknown {
  let value: unknown = 0
  for (let at = 0; at < depth; at++) value = [value]
  return value
}

/** A text that is no JSON of ours any more, or no text at all. */
export function spoiled(text: string, random: Random): string | Uint8Array<ArrayBuffer> {
  const bytes = (given: string) => new TextEncoder().encode(given)
  return random.pick<() => string | Uint8Array<ArrayBuffer>>([
    () => text.slice(0, random.below(text.length + 1)),
    () => `\ufeff${text}`,
    () => text.replace('{', '{"input":"twice","input":[],"decisions":{},"decisions":null,'),
    () => text.replaceAll('"', "'"),
    () => `${text}${text}`,
    () => `${'['.repeat(random.pick([99, 101, 100_000]))}`,
    () => `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    () => `[${'0,'.repeat(random.pick([10, 250_000]))}0]`,
    () => new Uint8Array([...bytes(text.slice(0, -1)), 0xff, 0xfe, 0xc0, 0x80]),
    () => new Uint8Array([0xef, 0xbb, 0xbf, ...bytes(text)]),
    () => new Uint8Array([0xff, 0xfe, ...bytes(text)]),
    () => '"text"',
    () => 'null',
    () => ' ',
    () => '',
  ])()
}
