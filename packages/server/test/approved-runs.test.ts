import { defineTool } from '@allium/core'
import { describe, expect, test } from 'vitest'
import { agentOf, ask, kinds } from './kit.ts'

const call = { toolCalls: [{ name: 'pay', args: {} }] }

describe.each(kinds)('with runs %s', (_, listen) => {
  test('an approved call is not cancelled by the next input of its owner', async () => {
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    let begin = () => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const pay = defineTool({
      ...{ name: 'pay', description: 'Pays.', jsonSchema: { type: 'object', properties: {} }, requireApproval: true },
      async execute() {
        begin()
        await finished
        return 'Paid.'
      },
    })
    const { url } = await listen(agentOf([call, 'It is paid.'], { tools: [pay] }))
    const input = { input: 'Pay.', messageId: 'u1' }
    const { pending } = (await (await ask(`${url}/sessions/a/runs`, { body: input })).json()) as {
      pending: { token: string }[]
    }
    const { status } = await ask(`${url}/approvals`, { body: { token: pending[0]?.token, approve: true } })
    await begun
    const next = [{ input: 'Hello?' }, { ...input, input: 'Do not pay.' }]
    const refused = await Promise.all(next.map(async (body) => (await ask(`${url}/sessions/a/runs`, { body })).status))
    finish()
    expect([status, refused]).toEqual([202, [409, 409]])
    await expect.poll(async () => (await ask(`${url}/sessions/a/messages`)).text()).toContain('It is paid.')
    expect(await (await ask(`${url}/sessions/a/messages`)).text()).toContain('"output":"Paid."')
  })
})
