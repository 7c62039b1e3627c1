import type { ModelChunk, ToolResultPart } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { approve, maxToolCalls, policy } from '../src/index.ts'
import { scene } from './scene.ts'

const approvalRequest = { id: 'mcpr_1', provider: 'openai.responses' }
const chunks: ModelChunk[] = [
  { type: 'tool-input-start', callId: 'c1', name: 'mcp.create', approvalRequest },
  { type: 'tool-input-delta', callId: 'c1', delta: '{"title":"Bug"}' },
  { type: 'tool-input-end', callId: 'c1' },
]
type Layer = Parameters<typeof scene>[1][number]

async function asked(...layers: Layer[]) {
  const { agent, model } = scene([{ chunks }, 'Done.'], layers)
  const session = agent.session()
  const run = await session.run('go')
  const answer = () => (model.requests[1]?.messages.at(-1)?.content as ToolResultPart[] | undefined)?.[0]
  return { ...run, session, answer }
}

describe('a call that its provider runs after an approval', () => {
  it.each<[string, Layer]>([
    ['policy by name', policy({ deny: ['mcp.*'] })],
    ['policy by rule', policy({ rules: [{ tool: 'mcp.create', roles: ['manager'] }] })],
    ['maxToolCalls', maxToolCalls({ limit: 0 }) as Layer],
    ['approve by asking', approve({ handler: () => ({ deny: 'no' }) }) as Layer],
  ])('is refused where guard.%s denies it', async (_, layer) => {
    const { status, answer } = await asked(layer)
    expect([status, answer()]).toMatchObject(['completed', { isError: true, approved: false }])
  })

  it('waits for one decision where guard.approve asks as well', async () => {
    const { status, session, answer } = await asked(approve() as Layer)
    expect([status, session.pending.length]).toEqual(['suspended', 1])
    await session.resume({ c1: { approve: true } })
    expect(answer()).toMatchObject({ approved: true })
  })
})
