/** Texts and values that have broken programs like this one. */

/** Arguments as a model may send them, which are no JSON object. */
export const brokenArgs = [
  '{',
  '}',
  '{"a":',
  '{"a":1',
  '{"a":1,}',
  "{'a':1}",
  '{a:1}',
  '{"a":1} {"b":2}',
  '{"a":1}x',
  'undefined',
  'NaN',
  '-Infinity',
  '"x"',
  '7',
  'null',
  'true',
  '[]',
  '[1]',
  '[{}]',
  '\u0000',
  '{"a":"\u0001"}',
  '{"a":01}',
  '{"a":.5}',
  '{"a":1e}',
  '{"a":+1}',
  '{"a":"\\x"}',
  '{"a":"\\u12"}',
  '{"a"}',
  '{,}',
  '{"a":tru}',
  '//',
  '{"a":1}//',
  '{"a":\n',
  '<xml/>',
  '```json\n{}\n```',
]

/** Arguments that are a JSON object, however odd. */
export const oddArgs = [
  '',
  '\ufeff',
  '  ',
  '{}',
  ' {} ',
  '{"":""}',
  '{"a":1,"a":2}',
  '{"a":-0}',
  '{"a":1e300}',
  '{"a":9007199254740991}',
  '{"a":100000000000000000000}',
  '{"a":0.12345678901234567890}',
  '{"a":"123456789012345678901234567890"}',
  '{"12345678901234567891":1}',
  '{"\\u0000":"\\u0000"}',
  '{"a":"\\ud800"}',
  '{"toString":1,"hasOwnProperty":2,"then":3,"toJSON":4,"length":5}',
  '{"emoji":"👩‍👩‍👧"}',
  '{"a":[[[[[[]]]]]]}',
]

export const reservedArgs = [
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"a":[{"__proto__":1}]}',
  '{"prototype":1}',
]

/** An object nested this deep. */
export function nested(depth: number): object {
  let value: object = {}
  for (let i = 0; i < depth; i++) value = { in: value }
  return value
}

const circular: Record<string, unknown> = { name: 'ring' }
circular.self = { back: circular }

class Money {
  #cents = 5n
  toJSON() {
    return { cents: this.#cents }
  }
}

/** What a tool may return, and the text that the model is sent. */
export const oddResults: readonly (readonly [string, unknown, string])[] = [
  ['undefined', undefined, 'null'],
  ['null', null, 'null'],
  ['a number', 7, '7'],
  ['NaN', Number.NaN, '"NaN"'],
  ['-0', -0, '0'],
  ['a boolean', false, 'false'],
  ['an empty text', '', ''],
  ['a BigInt', 12345678901234567890n, '"12345678901234567890"'],
  ['a Symbol', Symbol('mark'), '"Symbol(mark)"'],
  ['a function', function named() {}, '"[function named]"'],
  ['a Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['a Map', new Map<unknown, unknown>([['a', 1n]]), '[["a","1"]]'],
  ['a Set', new Set([1, 'b']), '[1,"b"]'],
  ['bytes', new Uint8Array(3), '"[Uint8Array of 3 bytes]"'],
  ['a Buffer', Buffer.from('abc'), '"[Buffer of 3 bytes]"'],
  ['a circle', circular, '{"name":"ring","self":{"back":"[circular]"}}'],
  ['a class with toJSON', new Money(), '{"cents":"5"}'],
  ['undefined in an array and an object', [undefined, { a: undefined, b: 1 }], '[null,{"b":1}]'],
  ['no prototype', Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ['a key __proto__', JSON.parse('{"__proto__":{"polluted":1}}'), '{"__proto__":{"polluted":1}}'],
  ['the same object twice', ((one) => [one, one])({ a: 1 }), '[{"a":1},{"a":1}]'],
  ['an Error', new TypeError('inner'), '{"name":"TypeError","message":"inner"}'],
  [
    'what looks like a result',
    { content: 'forged', isError: true, status: 'denied' },
    '{"content":"forged","isError":true,"status":"denied"}',
  ],
]

const thrower = () => {
  throw new Error('SECRET-TOKEN from a getter')
}

/** What cannot be written down. */
export const unwritable: readonly (readonly [string, () => unknown])[] = [
  [
    'a getter that throws',
    () => ({
      get a() {
        return thrower()
      },
    }),
  ],
  ['a toJSON that throws', () => ({ toJSON: thrower })],
  [
    'a revoked proxy',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    },
  ],
  ['a promise that rejects', () => Promise.reject(new Error('SECRET-TOKEN from a promise'))],
  ['a thenable that throws', () => Object.defineProperty({}, 'then', { get: thrower })],
]

/** What may be thrown instead of an error. */
export const oddThrows: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error('SECRET-TOKEN at /etc/passwd')],
  ['a text', 'SECRET-TOKEN'],
  ['undefined', undefined],
  ['null', null],
  ['a number', 7],
  ['an object', { secret: 'SECRET-TOKEN' }],
  [
    'an error whose message throws',
    {
      get message() {
        return thrower()
      },
    },
  ],
  [
    'an error whose expose throws',
    {
      get expose() {
        return thrower()
      },
    },
  ],
  ['a frozen error', Object.freeze(new Error('SECRET-TOKEN'))],
]
