import { Ajv } from 'ajv'
import { Agent } from 'allium'
import { scriptedModel } from 'allium/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'

const node = z.object({
  name: z.string(),
  get children() {
    return z.array(node)
  },
})
const expression = z.union([
  z.number(),
  z.object({
    op: z.literal('+'),
    get left() {
      return expression
    },
  }),
])
const list = z.union([
  z.null(),
  z.object({
    head: z.string(),
    get tail() {
      return list
    },
  }),
])
const person = z.object({ p: z.string() }).meta({ id: 'Person' })

/** Each value, and one that does not fit. */
const cases: [string, z.ZodType, unknown, unknown][] = [
  ['a list of named schemas', z.array(person), [{ p: 'x' }], [{ p: 1 }]],
  ['a list of recursive objects', z.array(node), [{ name: 'a', children: [] }], [{ name: 'a', children: [1] }]],
  ['a recursive union', expression, { op: '+', left: { op: '+', left: 1 } }, { op: '+', left: { op: '+', left: '1' } }],
  [
    'a recursive union with null',
    list,
    { head: 'a', tail: { head: 'b', tail: null } },
    { head: 'a', tail: { head: 1 } },
  ],
  ['a named schema', person, { p: 'x' }, { p: 1 }],
]

it.each(cases)('sends a schema that the right answer fits, and no other: %s', async (_, schema, right, wrong) => {
  const model = scriptedModel([JSON.stringify({ value: right })])
  const { output } = await new Agent({ model }).run('Hi', { output: schema })
  const format = model.requests[0]?.responseFormat as { schema: object }
  const fits = new Ajv({ strict: false }).compile(format.schema)
  expect([output, fits({ value: right }), fits({ value: wrong })]).toEqual([right, true, false])
  expect(JSON.stringify(format.schema)).not.toMatch(/"\$ref":"#(?!\/\$defs\/)/)
})
