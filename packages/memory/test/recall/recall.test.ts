import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { persist } from '../../src/index.ts'
import { type Recalled, recall } from '../../src/recall/index.ts'
import { ada, asks, found, scene } from './scene.ts'

describe('memory.recall', () => {
  it('finds what the user said in another conversation, and hands it over as data with its date', async () => {
    const { chat } = scene()
    await chat('monday', ['My sister Mina breeds alpacas in Peru.', 'Thanks'], ['How nice.', 'Bye.'])
    const { result } = await chat(
      'tuesday',
      ['What does my sister do?'],
      [asks('sister alpacas'), 'She breeds alpacas.'],
    )
    expect(String(result.toolCalls[0]?.result.content).split('\n')[0]).toBe(
      '{"on":"2026-05-04","from":"user","text":"My sister Mina breeds alpacas in Peru."}',
    )
    expect(result.text).toBe('She breeds alpacas.')
  })

  it('finds nothing of another user, tenant or agent, even if they wrote the same words', async () => {
    const { chat } = scene()
    const secret = ['The code of the vault is zebra.']
    await chat('a', secret, ['Noted.'], { tenantId: 'acme', userId: 'bob' })
    await chat('b', secret, ['Noted.'], { tenantId: 'other', userId: 'ada' })
    const { result } = await chat('c', ['Which code?'], [asks('code vault zebra'), 'I do not know.'])
    expect(result.toolCalls[0]?.result.content).toBe('Earlier conversations have nothing that fits.')
  })

  it('leaves out what the conversation has already, and runs that failed', async () => {
    const { chat, agentOf } = scene()
    const failed = agentOf([{ error: new Error('down') }]).agent.session({ id: 'x', principal: ada })
    await expect(failed.run('The alpaca is ill.')).rejects.toThrow('down')
    await failed.close()
    const { result } = await chat('y', ['My alpaca is called Pia.', 'And?'], ['Hello Pia.', asks('alpaca Pia'), 'Pia.'])
    expect(found(result)).toEqual([])
  })

  it('forgets the turns that a rewind takes back', async () => {
    const { chat, agentOf } = scene()
    const session = agentOf(['Hello.', 'Oslo.']).agent.session({ id: 'x', principal: ada })
    const { turnId } = await session.run('Hi')
    await session.run('Where is the congress?')
    const before = await chat('y', ['?'], [asks('congress'), 'Oslo.'])
    expect(found(before.result).slice(0, 2)).toEqual(['Where is the congress?', 'Oslo.'])
    await session.rewind({ to: turnId })
    await session.close()
    expect(found((await chat('z', ['?'], [asks('congress'), '?'])).result)).not.toContain('Where is the congress?')
  })

  it('finds a message once, however many forks have copied it', async () => {
    const { chat, agentOf } = scene()
    const session = agentOf(['Oslo.', 'In May.', 'In June.']).agent.session({ id: 'x', principal: ada })
    await session.run('Where is the congress?')
    for (const id of ['fork1', 'fork2']) await session.fork({ id }).run(`When, ${id}?`)
    const texts = found((await chat('y', ['?'], [asks('congress'), 'Oslo.'])).result)
    expect(texts.filter((text) => text === 'Where is the congress?')).toHaveLength(1)
    const forked = found((await chat('z', ['?'], [asks('fork2'), 'June.'])).result)
    expect(forked[0]).toBe('When, fork2?')
  })

  it('refuses a principal without a tenant or a user at the first run', async () => {
    const { agentOf } = scene()
    for (const [principal, field] of [
      [{ userId: 'ada' }, 'tenantId'],
      [{ tenantId: 'acme' }, 'userId'],
      [undefined, 'tenantId'],
    ] as const)
      await expect(agentOf(['Hi.']).agent.session({ principal }).run('Hi')).rejects.toMatchObject({
        code: 'session.principal',
        message: expect.stringContaining(`principal has no ${field}`),
      })
  })

  it('does not start outside memory.persist, whose turns it could not extend', async () => {
    const { store } = scene()
    const agent = new Agent({ model: scriptedModel(['Hi.']) })
      .use(recall({ store: store.passages }))
      .use(persist({ store }))
    await expect(agent.init()).rejects.toThrow('Register "memory:persist" first, then "memory:recall"')
    const alone = new Agent({ model: scriptedModel(['Hi.']) }).use(recall({ store: store.passages }))
    await expect(alone.init()).rejects.toThrow('"memory:recall" requires the capability "memory.persist"')
  })

  it('rejects options that it does not know or cannot keep', () => {
    expect(() => recall({ limit: 0 })).toThrow('limit to be a number')
    expect(() => recall({ language: 'xx' as 'en' })).toThrow("language to be 'ar'")
    expect(() => recall({ tokns: 5 } as object)).toThrow('Did you mean "tokens"?')
    expect(() => recall({ embed: null as never })).toThrow('embed.doEmbed to be a function')
    expect(() => recall({ store: { sessions: {} } as never })).toThrow('takes store.passages, not the whole store')
  })

  it('bounds the number and the length of what it hands over', async () => {
    const { chat } = scene({ limit: 3, tokens: 50 })
    await chat('x', [`Alpacas ${'eat hay. '.repeat(100)}`, 'Alpacas sleep.'], ['Yes.', 'They do.'])
    const { result } = await chat('y', ['?'], [asks('alpacas'), 'Hay.'])
    const content = String(result.toolCalls[0]?.result.content)
    expect(content.length).toBeLessThanOrEqual(200)
    expect(content.split('\n').map((line) => JSON.parse(line).text)).toContain('Alpacas sleep.')
  })

  it('reports the places of what it recalled, without the text', async () => {
    const { chat, agentOf } = scene()
    await chat('x', ['My alpaca is called Pia.'], ['Hello Pia.'])
    const { agent } = agentOf([asks('alpaca'), 'Pia.'])
    const events: Recalled[] = []
    agent.on('memory:recall', (event) => events.push(event))
    await agent.session({ id: 'y', principal: ada }).run('Who?')
    expect(events.map(({ passages }) => passages.map(({ sessionId, index }) => [sessionId, index]))).toEqual([
      [
        ['x', 0],
        ['x', 1],
      ],
    ])
    expect(JSON.stringify(events)).not.toContain('Pia')
  })
})
