import { describe, expect, it } from 'vitest'
import { ada, asks, found, scene } from './scene.ts'

const person = { tenant: 'acme', owner: 'ada' }

describe('memory that is switched off', () => {
  it('recalls nothing, and the tool says why', async () => {
    const { chat, store } = scene()
    await chat('x', ['My alpaca is called Pia.'], ['Hello Pia.'])
    await store.passages.setOff(person, 1)
    const { result } = await chat('y', ['Who?'], [asks('alpaca'), 'I do not know.'])
    expect(result.toolCalls[0]?.result.content).toBe(
      'Nothing is recalled, because memory is switched off for this user.',
    )
  })

  it('adds no note with every: "turn"', async () => {
    const { chat, store } = scene({ every: 'turn' })
    await chat('x', ['My alpaca is called Pia.'], ['Hello Pia.'])
    await store.passages.setOff({ tenant: 'acme' }, 1)
    const { requests } = await chat('y', ['What is my alpaca called?'], ['I do not know.'])
    expect(requests[0]?.map(({ content }) => content)).toEqual(['What is my alpaca called?'])
  })

  it('stores no passage of a turn that runs meanwhile, and finds the earlier ones when it is on again', async () => {
    const { chat, agentOf, store } = scene()
    await chat('x', ['My alpaca is called Pia.'], ['Hello Pia.'])
    const { agent } = agentOf(['Hello Otto.'])
    await using session = agent.session({ id: 'y', principal: ada })
    agent.on('turn:start', () => store.passages.setOff(person, 1))
    await session.run('My other alpaca is called Otto.')
    await store.passages.setOff(person, undefined)
    const { result } = await chat('z', ['Which?'], [asks('alpaca called'), 'Pia.'])
    expect(found(result)).toEqual(['My alpaca is called Pia.', 'Hello Pia.'])
  })
})
