import { Agent, type Logger } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { mcp } from '../src/mcp.ts'
import { httpFixture } from './mcp/http.ts'

const evil = `${'a'.repeat(60)}!`

/** An agent with a server that has one more tool, whose model calls it with these arguments. */
async function calling(tool: object, args: Record<string, unknown>) {
  const fixture = await httpFixture()
  fixture.shelf.more = [{ name: 'mine', description: 'Mine', ...tool }] as never
  const log: string[] = []
  const logger: Logger = { warn: (line) => log.push(line), error() {} }
  const steps: ScriptedStep[] = [{ toolCalls: [{ name: 'srv__mine', args }] }, 'Done.']
  const model = scriptedModel(steps)
  const agent = new Agent({ model, logger }).use(mcp({ name: 'srv', url: fixture.url }))
  onTestFinished(async () => {
    await agent.dispose()
    await fixture.stop()
  })
  const result = await agent.run('go')
  return { result: result.toolCalls[0]?.result, log: log.filter((line) => line.includes('"mine"')), model }
}

test.each([
  ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: evil }, 'must match pattern'],
  ['a pattern of names', { propertyNames: { pattern: '^(a+)+$' } }, { [evil]: 1 }, 'must match pattern'],
  ['a reference to itself', { $ref: '#' }, {}, 'cannot be checked'],
])("Arguments are held against a server's schema in few steps: %s", async (_, schema, args, said) => {
  const { result, model, log } = await calling({ inputSchema: { type: 'object', ...schema } }, args)
  expect([result?.isError, result?.content, log]).toEqual([true, expect.stringContaining(said), []])
  const shown = model.requests[0]?.tools.find(({ name }) => name === 'srv__mine')
  expect(shown?.jsonSchema).toEqual({ type: 'object', ...schema })
})

test('A part of a schema that is not checked is reported, and the tool is called', async () => {
  const inputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(?=a)' } } }
  const { result, log } = await calling({ inputSchema, structured: { ok: true } }, { a: 'b' })
  expect(log).toEqual([expect.stringMatching(/"mine" of the MCP server "srv" is checked in part.*\(\?=a\)/)])
  expect(result?.content).toBe('Here.')
})

test("A result is held against the server's output schema in few steps", async () => {
  const outputSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  const inputSchema = { type: 'object' }
  const { result } = await calling({ inputSchema, outputSchema, structured: { a: evil } }, {})
  expect(result?.content).toContain('does not fit its schema: a: must match pattern')
})
