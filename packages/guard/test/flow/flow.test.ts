import { describe, expect, it } from 'vitest'
import { calling, mail, page, scene, secret, sends, tool, writes } from './scene.ts'

const tools = { read_page: page, read_crm: secret, read_mail: mail, send: sends, save: writes }
const labelsIn = (state: object) => (state as Record<string, unknown>)['guard:flow:labels']

describe('guard.flow', () => {
  it('asks before something is sent under private and untrusted text, and tells where both came from', async () => {
    const { agent, ran } = scene([calling('read_page'), calling('read_crm'), calling('send'), 'Sent.'], tools)
    const session = agent.session()
    const { status, pending, state } = await session.run('go')
    expect([status, ran]).toEqual(['suspended', ['read_page', 'read_crm']])
    expect(pending[0]?.request).toMatchObject({
      reason:
        'The tool "send" would send while the conversation holds untrusted text from the tool "read_page", and private text from the tool "read_crm", which may have asked for this.',
      sources: { untrusted: { kind: 'tool', tool: 'read_page' }, private: { kind: 'tool', tool: 'read_crm' } },
    })
    expect(labelsIn(state)).toEqual(pending[0]?.request?.sources)
    const { text } = await session.resume({ [pending[0]?.callId as string]: { approve: true } })
    expect([text, ran.at(-1)]).toEqual(['Sent.', 'send'])
  })

  it('lets send what is under one label alone, and asks before a write under untrusted text', async () => {
    const one = scene([calling('read_page'), calling('send'), calling('save'), 'Done.'], tools)
    expect([(await one.agent.run('go')).status, one.ran]).toEqual(['suspended', ['read_page', 'send']])
    const other = scene([calling('read_crm'), calling('send'), calling('save'), 'Done.'], tools)
    expect([(await other.agent.run('go')).status, other.ran]).toEqual(['completed', ['read_crm', 'send', 'save']])
  })

  it('does not start with a tool that declares nothing, and names it', async () => {
    const { agent } = scene(['Hi.'], tools, { agent: { tools: [tool('mystery', undefined)] } })
    await expect(agent.init()).rejects.toThrow('"guard:flow" does not admit the tool "mystery": it declares no flow')
    expect(agent.check()[0]?.message).toContain('mystery')
  })

  it('takes links out of an answer under both labels, also in a stream that cuts them', async () => {
    const chunks = ['See [this](htt', 'ps://evil.test/?q=', 'secret) now.\n', '\nAnd ![x](//evil.test/a.png).']
    const { agent } = scene([calling('read_mail'), { chunks, reasoning: 'Go https://evil.test/x' }], tools)
    const { text } = await agent.run('go')
    expect(text).toBe('See [this] ([link removed]) now.\n\nAnd ![x] ([link removed]).')
    const free = scene([calling('read_page'), { chunks }], tools)
    expect((await free.agent.run('go')).text).toContain('https://evil.test/?q=secret')
  })
})
