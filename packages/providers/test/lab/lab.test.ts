import { describe, expect, it } from 'vitest'
import type { Json } from './format.ts'
import { formats } from './formats/index.ts'
import { pinnedVersions } from './install.ts'
import { readResults } from './results.ts'
import { bothVersions, installedName } from './row.ts'
import { rows } from './rows/index.ts'
import { groups, scenarios } from './scenarios/index.ts'
import { tenth } from './tenth.ts'

describe('the lab of provider packages', () => {
  it('has a wire format, pinned versions and stored results for every row', async () => {
    const pinned = await pinnedVersions()
    const stored = await readResults()
    for (const row of rows) {
      const versions = (row.versions ?? bothVersions).map((of) => pinned[installedName(row, of)])
      const cells = stored.rows.find(({ name }) => name === row.name)?.cells ?? {}
      expect([row.name, formats.filter(({ name }) => name === row.format).length]).toEqual([row.name, 1])
      expect([row.name, Object.keys(cells)]).toEqual([row.name, versions])
    }
    expect(stored.scenarios).toEqual(scenarios.map(({ name }) => name))
  })

  it('shows every scenario in one column of the docs', () => {
    expect(Object.values(groups).flat().sort()).toEqual(scenarios.map(({ name }) => name).sort())
  })

  it('runs a tenth with the end-to-end tests, with all seven formats', () => {
    const families = tenth.map(([name]) => rows.find((row) => row.name === name)?.format)
    expect(families.sort()).toEqual([
      'anthropic',
      'bedrock',
      'cohere',
      'gemini',
      'mistral',
      'ollama',
      'openai-responses',
    ])
    expect(tenth.length).toBe(Math.round(rows.flatMap(({ versions = bothVersions }) => versions).length / 10))
  })
})

const call = (id: string, name = 'add') => ({ id, type: 'function', function: { name, arguments: '{}' } })
const refused: [format: string, body: Json, problem: RegExp][] = [
  ['openai-chat', { messages: [{ role: 'assistant', content: null, tool_calls: [call('c')] }] }, /have no result/],
  ['openai-chat', { messages: [{ role: 'user', content: [{ type: 'image' }] }] }, /unknown part "image"/],
  ['mistral', { messages: [{ role: 'assistant', tool_calls: [call('call_1')] }] }, /does not match/],
  ['openai-chat', { tools: [{ type: 'function', function: { name: 'a.b' } }] }, /tool name "a.b"/],
  ['openai-responses', { input: [{ type: 'reasoning', id: 'rs_9', summary: [] }] }, /not found/],
  ['anthropic', { messages: [{ role: 'user', content: ' ' }] }, /non-whitespace/],
  ['anthropic', { tools: [{ name: 'a', input_schema: { anyOf: [] } }] }, /not of the type object/],
  ['gemini', { contents: [{ role: 'user', parts: [] }] }, /at least one parts field/],
  ['cohere', { messages: [{ role: 'tool', tool_call_id: 'c', content: '' }] }, /no open call/],
  ['bedrock', { messages: [{ role: 'user', content: [{ toolUse: { toolUseId: 'a:b' } }] }] }, /toolUseId "a:b"/],
  ['ollama', { messages: [{ role: 'user', content: [] }] }, /cannot unmarshal/],
]

it.each(refused)('the lab refuses as %s what its API refuses: %j', (name, body, problem) => {
  const format = formats.find((one) => one.name === name)
  expect(format?.problems({ stream: true, ...body }, '/converse-stream')).toContainEqual(expect.stringMatching(problem))
})
