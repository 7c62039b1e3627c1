import { Agent, type ToolResult, toolResult } from '@allium/core'
import { runLayer, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type TruncateOptions, truncate } from '../src/index.ts'

const cut = async (value: unknown, options: TruncateOptions = {}): Promise<ToolResult> => {
  const { toolResult } = await runLayer(truncate({ maxLength: 10, marker: (n) => `[${n}]`, ...options }), {
    scope: 'tool',
    execute: () => value,
  })
  return toolResult as ToolResult
}

describe('tools.truncate', () => {
  it.each([
    ['start', 'abcdefghij[16]'],
    ['end', '[16]qrstuvwxyz'],
    ['both', 'abcde[16]vwxyz'],
  ] as const)('keeps the %s of a long result, with a marker', async (keep, content) => {
    expect((await cut('abcdefghijklmnopqrstuvwxyz', { side: keep })).content).toBe(content)
  })

  it('leaves alone what fits, to the character', async () => {
    expect((await cut('abcdefghij')).content).toBe('abcdefghij')
  })

  it.each(['start', 'end', 'both'] as const)('cuts no emoji in half: %s', async (keep) => {
    for (let maxLength = 1; maxLength < 12; maxLength++)
      expect((await cut('🧅'.repeat(20), { side: keep, maxLength })).content).not.toMatch(/\p{Surrogate}/u)
  })

  it('keeps the value that the tool returned, and the flag of an error', async () => {
    const long = { rows: Array.from({ length: 9 }, (_, i) => i) }
    expect(await cut(long)).toMatchObject({ value: long, content: '{"rows":[0[18]' })
    expect(await cut(toolResult({ content: 'x'.repeat(99), isError: true }))).toMatchObject({
      isError: true,
      status: 'error',
    })
  })

  it('cuts the texts of parts as one, and keeps images', async () => {
    const image = { type: 'image', data: new Uint8Array([1]), mediaType: 'image/png' } as const
    const content = [{ type: 'text', text: 'abcdefgh' } as const, image, { type: 'text', text: 'ijklmnop' } as const]
    expect((await cut(toolResult({ content }))).content).toEqual([{ type: 'text', text: 'abcdefgh\ni[7]' }, image])
  })

  it('cuts results of the tools that it names alone', async () => {
    expect((await cut('x'.repeat(99), { tools: ['other'] })).content).toHaveLength(99)
  })

  it('sends the model, and the history, the cut text: 50 MB become a few characters', async () => {
    const big = { name: 'big', description: 'Big', jsonSchema: {}, execute: () => 'x'.repeat(50_000_000) }
    const model = scriptedModel([{ toolCalls: [{ name: 'big' }] }, 'ok'])
    const session = new Agent({ model, tools: [big] }).use(truncate()).session()
    await session.run('go')
    expect(JSON.stringify(session.history).length).toBeLessThan(21_000)
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('49980000 characters left out')
  })

  it.each([0, -1, Number.NaN])('refuses a length of %d', (maxLength) => {
    expect(() => truncate({ maxLength })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
