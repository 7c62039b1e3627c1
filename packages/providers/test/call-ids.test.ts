import type { Message } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { finishV3, optionsFor, written } from './written-model.ts'

const step = (...ids: string[]): Message[] => [
  { role: 'assistant', content: ids.map((callId) => ({ type: 'tool-call', callId, name: 'add', args: {} })) },
  { role: 'tool', content: ids.map((callId) => ({ type: 'tool-result', callId, name: 'add', content: '3' })) },
]

/** The ids that a model gets: of the calls, and of their results. */
async function idsFor(provider: string, messages: Message[], modelId = 'm-1') {
  const { prompt }: { prompt?: unknown } = await optionsFor(
    { messages },
    written('v4', [finishV3], { provider, modelId }),
  )
  const all = (prompt as { role: string; content: { toolCallId: string }[] }[]).map(({ role, content }) => ({
    role,
    ids: content.map(({ toolCallId }) => toolCallId),
  }))
  const idsOf = (of: string) => all.flatMap(({ role, ids }) => (role === of ? ids : []))
  expect(idsOf('tool')).toEqual(idsOf('assistant'))
  return idsOf('assistant')
}

const foreign = [
  'functions.add:0',
  'chatcmpl-tool-1::add',
  'call_1',
  'toolu_01A09q90qw90lq917835lq9',
  'Grüße 🧅',
  'x'.repeat(90),
]
const mistral = /^[a-zA-Z0-9]{9}$/
const anthropic = /^[a-zA-Z0-9_-]{1,64}$/

describe('tool call ids', () => {
  it.each([
    ['mistral.chat', 'mistral-large', mistral],
    ['openrouter', 'mistralai/devstral-2', mistral],
    ['anthropic.messages', 'claude-sonnet-4-6', anthropic],
    ['vertex.anthropic.messages', 'claude-sonnet-4-6', anthropic],
    ['openrouter', 'anthropic/claude-sonnet-4.6', anthropic],
    ['amazon-bedrock', 'us.amazon.nova-pro', anthropic],
    ['openai.chat', 'gpt-4o', /^.{1,40}$/],
    ['openai.responses', 'gpt-5', /^.{1,64}$/],
  ])('of other models follow the rule of %s %s, each with one name', async (provider, modelId, rule) => {
    const ids = await idsFor(provider, step(...foreign), modelId)
    for (const id of ids) expect(id).toMatch(rule)
    expect(new Set(ids).size).toBe(foreign.length)
  })

  it.each([
    ['mistral.chat', ['abc123DEF']],
    ['anthropic.messages', ['toolu_01A09q90qw90lq917835lq9', 'call-1', 'abc123DEF']],
    ['openai.responses', ['call_1', 'functions.add:0']],
    ['moonshotai.chat', foreign],
    ['google.generative-ai', foreign],
  ])('that %s takes stay as they are', async (provider, ids) => {
    expect(await idsFor(provider, step(...ids))).toEqual(ids)
  })

  it('have the same names in each request of a session, so that the prompt stays cached', async () => {
    const first = await idsFor('mistral.chat', step('call_1'))
    const second = await idsFor('mistral.chat', [...step('call_1'), ...step('call_2', 'abc123DEF')])
    expect(second.slice(0, 1)).toEqual(first)
    expect(second.at(-1)).toBe('abc123DEF')
  })

  it('never share a name, even with an id that looks like the new name of another', async () => {
    const [name] = await idsFor('mistral.chat', step('call_1'))
    const ids = await idsFor('mistral.chat', [...step('call_1'), ...step(name as string)])
    expect(ids[1]).toBe(name)
    expect(ids[0]).not.toBe(name)
    expect(ids[0]).toMatch(mistral)
  })

  it('are told apart in a long session', async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => `call_${at}`)
    expect(new Set(await idsFor('mistral.chat', step(...many))).size).toBe(many.length)
  })
})
