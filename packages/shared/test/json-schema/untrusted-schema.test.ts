import { describe, expect, test } from 'vitest'
import { untrustedSchema } from '../../src/json-schema.ts'
import { fits, issuesOf, uncheckedOf } from './kit.ts'

/** An object with a member called `then`, which a linter takes for a promise. */
function ifThen(condition: unknown, onTrue: unknown, onFalse: unknown = true): object {
  return Object.fromEntries(
    Object.entries({ if: condition, Then: onTrue, else: onFalse }).map(([key, schema]) => [key.toLowerCase(), schema]),
  )
}

describe('A JSON Schema from an untrusted source', () => {
  test('accepts a value that fits, and gives a copy of it', async () => {
    const value = { city: 'Rome', tags: ['a'] }
    const schema = await untrustedSchema({ type: 'object', properties: { city: { type: 'string' } } })
    const result = (await schema['~standard'].validate(value)) as { value: unknown }
    expect(result.value).toEqual(value)
    expect(result.value).not.toBe(value)
  })

  test('tells the first thing that is wrong, and where', async () => {
    const schema = { properties: { 'a/b': { items: { required: ['x'] } } } }
    expect(await issuesOf(schema, { 'a/b': [{ x: 1 }, {}] })).toEqual([
      { message: "must have required property 'x'", path: ['a/b', 1] },
    ])
  })

  test('is not affected by a change of the object that it was made from', async () => {
    const given = { type: 'string' }
    const schema = await untrustedSchema(given)
    given.type = 'number'
    expect(schema['~standard'].validate('a')).toEqual({ value: 'a' })
  })
})

describe('What is outside of the subset', () => {
  test('is listed, each part once', async () => {
    const twice = { type: 'string', pattern: '(?=a)b' }
    const schema = {
      unevaluatedProperties: false,
      properties: { a: twice, b: twice, c: { $ref: 'https://example.com/c' } },
    }
    expect(await uncheckedOf(schema)).toEqual([
      'the pattern "(?=a)b": It uses lookahead or lookbehind',
      'the keyword "$ref" with "https://example.com/c"',
      'the keyword "unevaluatedProperties"',
    ])
  })

  test.each([
    ['not', { not: { pattern: '(?=a)b' } }],
    ['oneOf', { oneOf: [{ type: 'string', pattern: '(?=a)b' }, { type: 'string' }] }],
    ['anyOf', { anyOf: [{ pattern: '(?=a)b' }, { type: 'number' }] }],
    ['if', ifThen({ pattern: '(?=a)b' }, false)],
    ['contains', { contains: { pattern: '(?=a)b' }, maxContains: 0 }, ['x']],
    ['additionalProperties', { patternProperties: { '(?=a)b': {} }, additionalProperties: false }, { x: 1 }],
    ['unevaluatedProperties', { unevaluatedProperties: false }, { x: 1 }],
    ['a type that makes no sense', { type: 'text' }],
    [
      'a reference inside of a schema with an $id',
      { properties: { a: { $id: 'b', $ref: '#/x' } }, x: false },
      { a: 1 },
    ],
  ])('refuses no value: %s', async (_, schema, value: unknown = 'x') => {
    expect(await fits(schema, value)).toBe(true)
    expect(await uncheckedOf(schema)).not.toEqual([])
  })

  test('leaves the rest of the schema checked', async () => {
    const schema = {
      not: { pattern: '(?=a)b' },
      maxLength: 2,
      ...ifThen({ unevaluatedProperties: false }, { type: 'string' }, false),
    }
    expect(await fits(schema, 'ab')).toBe(true)
    expect(await fits(schema, 'abc')).toBe(false)
    expect(await fits(ifThen({ unevaluatedProperties: false }, false, false), 1)).toBe(false)
  })

  test('are neither formats nor annotations, which are known and check nothing', async () => {
    const schema = { $schema: 'x', title: 'a', format: 'email', default: 1, examples: [], 'x-order': 2, readOnly: true }
    expect(await uncheckedOf(schema)).toEqual([])
    expect(await fits(schema, 'not an email')).toBe(true)
  })
})

// The cases of the official suite that concern the subset: https://github.com/json-schema-org/JSON-Schema-Test-Suite
const cases: [name: string, schema: unknown, valid: unknown[], invalid: unknown[]][] = [
  ['true', true, [1, null, {}], []],
  ['false', false, [], [1, null, {}]],
  ['type integer', { type: 'integer' }, [1, 1.0, -0], [1.1, '1', null, true]],
  ['type number', { type: 'number' }, [1, 1.5], ['1', null]],
  ['type object', { type: 'object' }, [{}], [[], null, 'a']],
  ['type array', { type: 'array' }, [[]], [{}]],
  ['type list', { type: ['string', 'null'] }, ['a', null], [1]],
  ['nullable', { type: 'string', nullable: true }, ['a', null], [1]],
  [
    'enum',
    { enum: [6, 'foo', [], true, { foo: 12 }] },
    [6, [], { foo: 12 }],
    [null, { foo: false }, { foo: 12, bar: 1 }],
  ],
  ['enum of falsy values', { enum: [false, 0] }, [false, 0], [true, 1, '', null]],
  ['const object', { const: { foo: 'bar', baz: 'bax' } }, [{ baz: 'bax', foo: 'bar' }], [{ foo: 'bar' }, [1]]],
  ['const null', { const: null }, [null], [0, false]],
  ['minimum', { minimum: 1.1 }, [1.1, 2, 'x'], [0.6]],
  ['maximum', { maximum: 3 }, [3, 'x'], [3.5]],
  ['exclusive bounds', { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
  ['multipleOf', { multipleOf: 2 }, [10, 'x', 0], [7]],
  ['multipleOf a float', { multipleOf: 0.0001 }, [0.0075], [0.00751]],
  ['multipleOf 0.1', { multipleOf: 0.1 }, [0.3, 0.7, 1.1, -0.3], [0.35]],
  ['multipleOf that overflows', { multipleOf: 0.123456789 }, [0], [1e308]],
  ['minLength', { minLength: 2 }, ['foo', 'fo', 100], ['f', '💩']],
  ['maxLength', { maxLength: 2 }, ['f', 'fo', '💩💩'], ['foo']],
  ['pattern', { pattern: '^a*$' }, ['aaa', 1, null], ['abc']],
  ['pattern without anchors', { pattern: 'a+' }, ['xxaayy'], ['xx']],
  ['properties', { properties: { foo: { type: 'integer' } } }, [{ foo: 1 }, {}, [], { bar: 'x' }], [{ foo: 'x' }]],
  [
    'properties of odd names',
    { properties: { ['__proto__']: { type: 'number' } } },
    [{}],
    [JSON.parse('{"__proto__":"x"}')],
  ],
  [
    'properties of inherited names',
    { properties: { constructor: { type: 'number' } } },
    [{}, []],
    [{ constructor: 'x' }],
  ],
  ['required of inherited names', { required: ['toString'] }, [{ toString: 1 }, []], [{}]],
  ['required', { required: ['foo'] }, [{ foo: 1 }, []], [{ bar: 1 }]],
  [
    'additionalProperties false',
    { properties: { foo: {} }, patternProperties: { '^v': {} }, additionalProperties: false },
    [{ foo: 1, vroom: 2 }, [1]],
    [{ foo: 1, quux: 1 }],
  ],
  [
    'additionalProperties schema',
    { properties: { foo: {} }, additionalProperties: { type: 'boolean' } },
    [{ foo: 1, bar: true }],
    [{ bar: 12 }],
  ],
  [
    'patternProperties',
    { patternProperties: { 'f.*o': { type: 'integer' } } },
    [{ foo: 1, foooo: 2 }, {}],
    [{ foo: 'bar' }],
  ],
  ['propertyNames', { propertyNames: { maxLength: 3 } }, [{ f: 1, foo: 2 }, {}, []], [{ foobar: 1 }]],
  ['propertyNames false', { propertyNames: false }, [{}], [{ a: 1 }]],
  ['minProperties', { minProperties: 1 }, [{ a: 1 }, []], [{}]],
  ['maxProperties', { maxProperties: 1 }, [{ a: 1 }], [{ a: 1, b: 2 }]],
  ['items', { items: { type: 'integer' } }, [[1, 2], { 0: 'x' }], [[1, 'x']]],
  ['items false', { items: false }, [[]], [[1]]],
  [
    'items list of draft 07',
    { items: [{ type: 'integer' }, { type: 'string' }], additionalItems: false },
    [[1, 'a'], [1], []],
    [['a'], [1, 'a', 2]],
  ],
  ['prefixItems', { prefixItems: [{ type: 'integer' }], items: { type: 'string' } }, [[1, 'a'], []], [[1, 2], ['a']]],
  ['contains', { contains: { minimum: 5 } }, [[3, 5], 'x'], [[], [1]]],
  ['minContains 0', { contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
  ['maxContains', { contains: { const: 1 }, maxContains: 1 }, [[1], [1, 2]], [[1, 1], []]],
  ['minItems, maxItems', { minItems: 1, maxItems: 2 }, [[1], [1, 2], ''], [[], [1, 2, 3]]],
  [
    'uniqueItems',
    { uniqueItems: true },
    [
      [1, true],
      [0, false],
      [{ a: 1 }, { a: 2 }],
      ['1', 1],
    ],
    [
      [1, 1],
      [1, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[1], [1]],
    ],
  ],
  ['uniqueItems false', { uniqueItems: false }, [[1, 1]], []],
  ['allOf', { allOf: [{ maximum: 30 }, { minimum: 20 }] }, [25], [35, 10]],
  ['anyOf', { anyOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5], [1.5]],
  ['oneOf', { oneOf: [{ type: 'integer' }, { minimum: 2 }] }, [1, 2.5], [3, 1.5]],
  ['not', { not: { type: 'integer' } }, ['foo'], [1]],
  ['if then else', ifThen({ exclusiveMaximum: 0 }, { minimum: -10 }, { multipleOf: 2 }), [-1, 4], [-100, 3]],
  ['then without if', JSON.parse('{"then":{"const":0}}'), [1], []],
  [
    '$ref to the root',
    { properties: { foo: { $ref: '#' } }, additionalProperties: false },
    [{ foo: { foo: {} } }],
    [{ bar: 1 }, { foo: { bar: 1 } }],
  ],
  [
    '$ref to a definition',
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/definitions/b' } }, definitions: { b: { type: 'integer' } } },
    [5],
    ['a'],
  ],
  [
    '$ref with escapes',
    { properties: { t: { $ref: '#/$defs/ti~0l~1de%25' } }, $defs: { 'ti~l/de%': { type: 'integer' } } },
    [{ t: 1 }],
    [{ t: 'a' }],
  ],
  ['$ref beside keywords', { $ref: '#/$defs/a', maxItems: 2, $defs: { a: { type: 'array' } } }, [[]], [[1, 2, 3], 'x']],
  [
    'dependencies, on properties',
    { dependencies: { a: ['b'], c: [] } },
    [{ b: 1 }, { a: 1, b: 1 }, { c: 1 }],
    [{ a: 1 }],
  ],
  [
    'dependencies, on a schema',
    { dependencies: { a: { maxProperties: 1 }, b: false } },
    [{ a: 1 }, 'b'],
    [{ a: 1, c: 1 }, { b: 1 }],
  ],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, [{}, { a: 1, b: 1 }, ['a']], [{ a: 1 }]],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, [{}, { a: 1, b: 1 }], [{ a: 1 }]],
  ['a property called $ref', { properties: { $ref: { type: 'string' } } }, [{ $ref: 'a' }], [{ $ref: 2 }]],
  ['$ref to a boolean', { $ref: '#/$defs/no', $defs: { no: false } }, [], ['foo']],
  [
    'a definition in place of an unknown keyword',
    { $ref: '#/x-own/a', 'x-own': { a: { type: 'string' } } },
    ['a'],
    [1],
  ],
]

describe.each(cases)('The keyword %s', (_, schema, valid, invalid) => {
  test('accepts and refuses what the suite does', async () => {
    for (const value of valid) expect(await fits(schema, value)).toBe(true)
    for (const value of invalid) expect(await fits(schema, value)).toBe(false)
  })
})
