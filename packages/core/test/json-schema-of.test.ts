import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import type { AnyTool, Middleware } from '../src/index.ts'
import { build, failure, tool } from './kit.ts'

/** A Standard Schema of another library. */
function standard(over: object): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }), ...over } } as never
}
const form = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = mini.object({ city: mini.string() })
const answer = '{"city":"Oslo"}'

describe('the JSON Schema of a schema', () => {
  it('is of draft 2020-12, in which current models take a tuple', async () => {
    const { agent, model } = build(['ok'], [], {
      tools: [{ ...tool('work'), jsonSchema: undefined as never, schema: z.object({ at: z.tuple([z.number()]) }) }],
    })
    await agent.run('hi')
    expect(model.requests[0]?.tools[0]?.jsonSchema.properties).toMatchObject({ at: { prefixItems: [{}] } })
  })

  it.each(['draft-2020-12', 'draft-07'])('comes from a library that has only %s', async (draft) => {
    const input = ({ target }: { target: string }) => {
      if (target !== draft) throw new Error(`Unsupported target: ${target}`)
      return { ...form, $schema: draft }
    }
    const { agent, model } = build([answer])
    await agent.run('hi', { output: standard({ jsonSchema: { input } }) })
    expect(model.requests[0]?.responseFormat).toMatchObject({ schema: form })
  })

  it('is refused with the reason of the library, and with advice that works', async () => {
    const { code, message } = await failure(build([answer]).agent.run('hi', { output: z.object({ at: z.date() }) }))
    expect([code, message]).toEqual(['run.options', expect.stringMatching(/"zod".*Date cannot be.*Add "jsonSchema"/)])
  })

  it('is asked for in an answer of a library that has none, and may be given with it', async () => {
    const { agent, model } = build([answer])
    const error = await failure(agent.run('hi', { output: weather }))
    expect([error.code, error.message]).toEqual(['run.options', expect.stringContaining('Add "jsonSchema"')])
    const { output } = await agent.run('hi', { output: { schema: weather, jsonSchema: form } })
    expect([output?.city, model.requests[0]?.responseFormat]).toEqual([
      'Oslo',
      expect.objectContaining({ schema: form }),
    ])
  })
})

describe('a raw JSON Schema for an answer', () => {
  it('types the answer as unknown, and the agent checks it', async () => {
    const validate = (_: object, value: unknown) => (value === 7 ? [] : [{ message: 'is not seven' }])
    const { agent } = build(['{"value":7}', '{"value":8}'], [], { validate })
    const output = { jsonSchema: { type: 'number' } }
    expect((await agent.run('hi', { output })).output).toBe(7)
    expect((await failure(agent.run('hi', { output }))).message).toContain('is not seven')
  })

  it.each([
    ['bare', form, 'pass it as "jsonSchema"'],
    ['of no object', { jsonSchema: true }, 'true as its jsonSchema'],
    ['beside no schema', { schema: 1, jsonSchema: form }, '1, and no Standard Schema'],
  ])('is refused %s, before anything runs', async (_, output, said) => {
    const { agent, model } = build([answer])
    const error = await failure(agent.run('hi', { output: output as never }))
    expect([error.code, error.message, model.calls]).toEqual(['run.options', expect.stringContaining(said), 0])
  })
})

describe('a schema without ~standard.validate', () => {
  const unfinished = standard({ validate: undefined, jsonSchema: { input: () => form } })
  const said = 'a schema of "other" without ~standard.validate'

  it('is refused where its tool is declared', () => {
    const work: AnyTool = { name: 'work', description: 'd', schema: unfinished, execute: () => 1 }
    const refused = expect.objectContaining({ code: 'tool.invalid', message: expect.stringContaining(said) })
    expect(() => build([], [], { tools: [work] })).toThrow(refused)
  })

  it('is refused as output, and as context', async () => {
    const error = await failure(build([answer]).agent.run('hi', { output: unfinished }))
    expect([error.code, error.message]).toEqual(['run.options', expect.stringContaining(said)])
    expect(() => build([], [], { context: unfinished as never })).toThrow(said)
  })
})

describe('the name of a tool', () => {
  it.each(['x'.repeat(65), 'files.read', 'two words', 'größe'])('is refused if providers reject it: %s', (name) => {
    const message = expect.stringContaining('1 to 64 letters, digits, _ and -')
    const refused = expect.objectContaining({ code: 'tool.invalid', message })
    expect(() => build([], [], { tools: [{ ...tool('work'), name }] })).toThrow(refused)
  })
})

describe('the issues of a value', () => {
  const issue = { message: 'm'.repeat(2e6), path: [{ key: 'a' }, 0, Symbol('s')], input: () => {} }
  const schema = standard({
    validate: () => ({ issues: Array.from({ length: 500 }, () => issue) }),
    jsonSchema: { input: () => form },
  })
  const first = { message: 'm'.repeat(1000), path: ['a', 0, 'Symbol(s)'] }

  it('are bounded in output.invalid, and can be cloned', async () => {
    const { details } = await failure(build([answer]).agent.run('hi', { output: schema }))
    expect(structuredClone(details.issues)).toEqual(Array(10).fill(first))
  })

  it('are bounded for layers of the tool, and for the model', async () => {
    const seen: unknown[] = []
    const sees: Middleware = {
      name: 'sees',
      tool(ctx, next) {
        seen.push(ctx.invalid)
        return next()
      },
    }
    const { agent } = build([{ toolCalls: [{ name: 'work', args: {} }] }, 'ok'], [sees], {
      tools: [{ ...tool('work'), jsonSchema: form, schema }],
    })
    const { toolCalls } = await agent.run('hi')
    expect(structuredClone(seen)).toEqual([Array(10).fill(first)])
    expect(String(toolCalls[0]?.result.content).length).toBeLessThan(11_000)
  })

  it('do not show what a schema threw: it is the cause', async () => {
    const thrown = new Error('connect ECONNREFUSED')
    const validate = () => {
      throw thrown
    }
    const output = standard({ validate, jsonSchema: { input: () => form } })
    const error = await failure(build([answer]).agent.run('hi', { output }))
    expect([error.code, error.cause]).toEqual(['output.invalid', thrown])
    expect(error.message).not.toContain('ECONNREFUSED')
  })
})
