import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fits } from './kit.ts'

const small = fc.integer({ min: 0, max: 4 })
const name = fc.constantFrom('a', 'b', 'ab', 'c')
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, '', 'a', 'ab', 'b1', '😀'),
    fc.constantFrom(-1, 0, 0.5, 1, 2, 3, 6),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value

const keywords = (inner: fc.Arbitrary<unknown>) => ({
  type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object', ['string', 'object']),
  enum: fc.array(json, { minLength: 1, maxLength: 3 }),
  const: json,
  minimum: small,
  maximum: small,
  exclusiveMinimum: small,
  exclusiveMaximum: small,
  multipleOf: fc.constantFrom(0.5, 1, 2, 3),
  minLength: small,
  maxLength: small,
  pattern: fc.constantFrom('^a', 'b$', '^[a-z]*$', '\\d', '^.$', '(a|b)+'),
  properties: fc.dictionary(name, inner, { maxKeys: 3, noNullPrototype: true }),
  patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$', '^.$'), inner, { maxKeys: 2, noNullPrototype: true }),
  additionalProperties: inner,
  propertyNames: inner,
  required: fc.uniqueArray(name, { maxLength: 2 }),
  dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2, noNullPrototype: true }),
  dependentSchemas: fc.dictionary(name, inner, { maxKeys: 2, noNullPrototype: true }),
  minProperties: small,
  maxProperties: small,
  prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }),
  items: inner,
  // Not any schema: of one that accepts everything ajv finds an item in an empty list.
  contains: fc.record({ const: json }),
  minContains: small,
  maxContains: small,
  minItems: small,
  maxItems: small,
  uniqueItems: fc.boolean(),
  allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
  anyOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
  oneOf: fc.array(inner, { minLength: 1, maxLength: 3 }),
  not: inner,
  if: inner,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: inner,
  else: inner,
  $ref: fc.constantFrom('#/$defs/text', '#/$defs/list'),
})

/** A few keywords at a time: a schema of all of them accepts nothing. */
const schema = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.subarray(Object.keys(keywords(fc.constant(true))), { minLength: 1, maxLength: 3 }).chain((names) => {
      const all = keywords(tie('schema')) as Record<string, fc.Arbitrary<unknown>>
      // With `prefixItems` beside it, ajv accepts an empty list that `contains` should reject.
      const known = names.includes('prefixItems') ? names.filter((one) => one !== 'contains') : names
      return fc.record(Object.fromEntries(known.map((one) => [one, all[one] as fc.Arbitrary<unknown>])))
    }),
  ),
})).schema

const $defs = { text: { type: 'string', maxLength: 1 }, list: { items: { $ref: '#/$defs/text' } } }

/** Other schemas, and more: `AJV_SEED=7 AJV_RUNS=20000`. */
const { AJV_SEED: seed = '1', AJV_RUNS: runs = '1500' } = process.env

/** The code that ajv makes of some schemas throws a TypeError: `anyOf` beside `patternProperties`, for an object. */
function orNothing<T>(check: () => T): T | undefined {
  try {
    return check()
  } catch {
    return undefined
  }
}

test('A schema of the subset accepts what ajv accepts', async () => {
  let [accepted, refused] = [0, 0]
  await fc.assert(
    fc.asyncProperty(schema, fc.array(json, { minLength: 1, maxLength: 10 }), async (inner, values) => {
      const whole = { allOf: [inner], $defs }
      const check = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, meta: false }).compile(
        whole,
      )
      for (const value of values) {
        const valid = orNothing(() => check(value))
        if (valid === undefined) continue
        expect(await fits(whole, value), JSON.stringify({ inner, value })).toBe(valid)
        if (valid) accepted++
        else refused++
      }
    }),
    { numRuns: Number(runs), seed: Number(seed) },
  )
  expect(Math.min(accepted, refused)).toBeGreaterThan(500)
})
