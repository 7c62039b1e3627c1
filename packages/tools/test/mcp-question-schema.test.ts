import type { JsonSchema, ToolExecution } from '@allium/core'
import { manualClock } from '@allium/testing'
import { expect, test } from 'vitest'
import { Dialogues } from '../src/mcp/dialogues.ts'

/** A backtracking matcher needs 2^60 steps to reject this by `^(a+)+$`. */
const evil = `${'a'.repeat(60)}!`

/** Answers a server's question, and returns what is wrong with the answers, or the result of the call. */
async function answer(schema: JsonSchema, data: Record<string, unknown>): Promise<string> {
  let said = 'nothing'
  const logger = { warn() {}, error() {} }
  const dialogues = new Dialogues(
    'srv',
    { expiresIn: 1_000, canElicit: true },
    { clock: manualClock(0), logger },
    undefined,
  )
  const question = { reason: 'How many?', question: { message: 'How many?', schema }, ticket: 'of another process' }
  const ctx = {
    signal: new AbortController().signal,
    approval: { approve: true, data },
    suspend: ({ problem }: { problem?: string }) => void (said = problem ?? 'asked again'),
  } as unknown as ToolExecution
  const call = async () => ({ content: [{ type: 'text' as const, text: 'Booked.' }] })
  const request = { by: undefined, request: question }
  const tool = { name: 'book', inputSchema: { type: 'object' as const } }
  const result = await dialogues.run({ calls: { call } as never, tool, args: {}, ctx }, request)
  return result === undefined ? said : 'called'
}

test.each([
  ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: evil }, 'must match pattern'],
  ['a pattern of names', { propertyNames: { pattern: '^(a+)+$' } }, { [evil]: 1 }, 'must match pattern'],
  ['a reference to itself', { $ref: '#' }, { a: 1 }, 'cannot be checked'],
  [
    'too many fields',
    { properties: Object.fromEntries(Array.from({ length: 50_000 }, (_, nth) => [`seat${nth}`, { type: 'string' }])) },
    { seat1: 'window' },
    'too large to be checked. Deny the call.',
  ],
])(
  "Answers are checked against the schema of an MCP server's question in few steps: %s",
  async (_, schema, data, problem) => {
    expect(await answer({ type: 'object', ...schema }, data)).toContain(problem)
    expect(await answer({ type: 'object', properties: { a: { pattern: '^a+$' } } }, { a: 'aa' })).toBe('called')
  },
)
