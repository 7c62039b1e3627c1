import { expect, it } from 'vitest'
import { toolResult } from '../src/index.ts'
import { build, tool } from './kit.ts'

const sent = { to: 'alice' }
const steps = [{ toolCalls: [{ name: 'send', callId: 'c1', args: sent }] }, 'Done.']

/** What the model reads of a call that a human decided. */
async function read(
  decision: { approve: true } | { args: Record<string, unknown> },
  execute: (args: { to: string }) => unknown,
) {
  const { agent, model } = build(steps, [], { tools: [tool('send', execute, { requireApproval: true })] })
  const session = agent.session()
  await session.run('Write')
  const { toolCalls } = await session.resume({ c1: decision })
  const { content } = model.requests[1]?.messages.at(-1) ?? {}
  const [part] = typeof content === 'object' ? content : []
  return { part: part?.type === 'tool-result' ? part : undefined, args: toolCalls[0]?.args }
}
const notice = 'The approver changed the arguments of this call. It ran with {"to":"bob"}\n'

it('the model is told which arguments ran, if the approver changed them', async () => {
  const { part, args } = await read({ args: { to: 'bob' } }, ({ to }) => `Sent to ${to}.`)
  expect([part?.content, args]).toEqual([`${notice}Sent to bob.`, { to: 'bob' }])
})

it.each<[string, () => unknown, unknown]>([
  ['of JSON', () => ({ id: 7 }), `${notice}{"id":7}`],
  [
    'of parts',
    () => toolResult({ content: [{ type: 'text', text: 'ok' }] }),
    [
      { type: 'text', text: notice },
      { type: 'text', text: 'ok' },
    ],
  ],
  ['of a failure', () => Promise.reject(new Error('down')), `${notice}The tool "send" failed.`],
])('the notice stands before a result %s, which is text then', async (_, execute, content) => {
  const { part } = await read({ args: { to: 'bob' } }, execute)
  expect([part?.content, part?.json]).toEqual([content, undefined])
})

it.each([{ approve: true } as const, { args: { to: 'alice' } }])(
  'the model gets no notice of its own arguments: %j',
  async (decision) => {
    const { part } = await read(decision, () => ({ id: 7 }))
    expect(part?.content).toBe('{"id":7}')
  },
)
