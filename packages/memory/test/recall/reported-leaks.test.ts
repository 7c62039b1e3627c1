import { describe, expect, it } from 'vitest'
import { ada, found, scene } from './scene.ts'

const bob = { tenantId: 'acme', userId: 'bob' }
const secret = 'The code of the vault is zebra.'

/** What users of other frameworks have reported about their recall. */
describe('memory.recall does not repeat', () => {
  it('a place of another person that the model names as an argument (mastra-ai/mastra#21863)', async () => {
    const { chat } = scene()
    await chat('vault', [secret], ['Noted.'], bob)
    const args = { question: 'vault code', cursor: 'vault', partIndex: 0, threadId: 'vault', owner: 'bob', limit: 100 }
    const names = { toolCalls: [{ name: 'recall', args }] }
    const { result } = await chat('c', ['Which code?'], [names, 'I do not know.'])
    expect(found(result)).toEqual([])
    expect(String(result.toolCalls[0]?.result.content)).not.toMatch(/zebra|bob/)
  })

  it('one memory for everybody whom an application has given no id of their own (mastra-ai/mastra#15426)', async () => {
    const { chat, agentOf } = scene()
    await chat('vault', [secret], ['Noted.'], bob)
    for (const principal of [{ tenantId: 'acme' }, { tenantId: 'acme', userId: '' }])
      await expect(agentOf(['Hi.']).agent.session({ principal }).run(secret)).rejects.toMatchObject({
        code: 'session.principal',
      })
    const { result } = await chat(
      'c',
      ['?'],
      [{ toolCalls: [{ name: 'recall', args: { question: 'zebra' } }] }, '?'],
      ada,
    )
    expect(found(result)).toEqual([])
  })
})
