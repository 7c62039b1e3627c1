import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { pii } from '../src/index.ts'

it('the notice of changed arguments holds placeholders for the model, and the tool gets the values', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'send', callId: 'c1', args: { to: 'a' } }] }, 'Sent.'])
  const got: unknown[] = []
  const send = {
    name: 'send',
    description: 'Sends',
    jsonSchema: { type: 'object' },
    requireApproval: true,
    execute: (args: unknown) => void got.push(args),
  }
  const session = new Agent({ model, tools: [send] }).use(pii()).session()
  await session.run('Write')
  await session.resume({ c1: { args: { to: 'bob@example.com' } } })
  const read = JSON.stringify(model.requests[1]?.messages)
  expect(got).toEqual([{ to: 'bob@example.com' }])
  expect(read).toContain(JSON.stringify('It ran with {"to":"[EMAIL_1]"}').slice(1, -1))
  expect(read).not.toContain('bob@')
})

it('there is no notice for an approver who sends back the values that placeholders stand for', async () => {
  const model = scriptedModel([{ toolCalls: [{ name: 'send', callId: 'c1', args: { to: '[EMAIL_1]' } }] }, 'Sent.'])
  const send = { name: 'send', description: 'Sends', jsonSchema: {}, requireApproval: true, execute: () => 'ok' }
  const session = new Agent({ model, tools: [send] }).use(pii()).session()
  const { pending } = await session.run('Write to ada@example.com')
  expect(pending[0]?.args).toEqual({ to: 'ada@example.com' })
  await session.resume({ c1: { args: { to: 'ada@example.com' } } })
  expect(model.requests[1]?.messages.at(-1)?.content).toMatchObject([{ content: 'ok' }])
})
