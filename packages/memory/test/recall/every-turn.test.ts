import { type AnyTool, defineMiddleware } from '@allium/core'
import { historyProblems } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { ada, scene } from './scene.ts'

const look: AnyTool = { name: 'look', description: 'Looks', jsonSchema: { type: 'object' }, execute: () => 'seen' }
const looks = { toolCalls: [{ name: 'look', args: {} }] }
const tools = defineMiddleware({ name: 'app:tools', tools: [look] })
const contents = (messages: readonly { content: unknown }[] = []) => messages.map(({ content }) => String(content))

describe("memory.recall({ every: 'turn' })", () => {
  it('puts what it found directly before the newest input, the same for all calls of the turn', async () => {
    const { chat } = scene({ every: 'turn' }, [tools])
    await chat('x', ['My alpaca is called Pia.'], ['Hello.'])
    const { requests } = await chat('y', ['Hi', 'Feed my alpaca'], ['Hi.', looks, 'Done.'])
    const [, first, second] = requests
    expect(contents(first).map((content) => content.slice(0, 14))).toEqual([
      'Hi',
      'Hi.',
      '(A note, not a',
      'Feed my alpaca',
    ])
    expect(first?.[2]?.content).toContain('"text":"My alpaca is called Pia."')
    expect(second?.slice(0, 4)).toEqual(first)
    expect(requests.flatMap((messages) => historyProblems(messages))).toEqual([])
  })

  it('keeps it out of the history, and adds nothing if nothing fits', async () => {
    const { chat, agentOf } = scene({ every: 'turn' })
    await chat('x', ['My alpaca is called Pia.'], ['Hello.'])
    const { requests } = await chat('y', ['What is the weather?'], ['Fine.'])
    expect(contents(requests[0])).toEqual(['What is the weather?'])
    const { agent } = agentOf(['Pia.'])
    const session = agent.session({ id: 'z', principal: ada })
    await session.run('My alpaca?')
    expect(session.history.length).toBe(2)
    expect(JSON.stringify(session.snapshot())).not.toContain('called Pia')
  })

  it('asks the store once a turn, also if the turn waits for an approval in between', async () => {
    const { chat, agentOf, store } = scene({ every: 'turn' }, [
      defineMiddleware({ name: 'app:tools', tools: [{ ...look, requireApproval: true }] }),
    ])
    await chat('x', ['My alpaca is called Pia.'], ['Hello.'])
    const { agent, model } = agentOf([looks, 'Done.'])
    const session = agent.session({ id: 'y', principal: ada })
    const { pending } = await session.run('Feed my alpaca')
    await store.delete({ tenant: 'acme', owner: 'ada', agent: 'helper', sessionId: 'x' })
    await session.resume({ [pending[0]?.callId as string]: { approve: true } })
    expect(model.requests[1]?.messages.slice(0, 2)).toEqual(model.requests[0]?.messages.slice(0, 2))
  })
})
