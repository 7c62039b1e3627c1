import { type Message, type Part, textOf, toolResult } from '@allium/core'
import { expect, test } from 'vitest'
import { agentOf, allOf, ask, kept, listen } from './kit.ts'

const texts: Part[] = [
  { type: 'text', text: 'invoice 1' },
  { type: 'text', text: '2 items' },
]
const read = { name: 'read', description: 'Reads', jsonSchema: {}, execute: () => toolResult({ content: texts }) }
const call = { toolCalls: [{ name: 'read', callId: 'c1', args: {} }] }
const user = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }

test('the texts of a tool result are apart in the stream of the AI SDK, and when its page loads again', async () => {
  const { agent, sessions } = kept(agentOf([call, 'Done.'], { tools: [read] }))
  const { url } = await listen(agent, { uiStream: 7, sessions })
  const chunks = await allOf(await ask(`${url}/chat`, { body: { id: 'a', messages: [user] } }))
  const output = chunks.map(({ data }) => data).find((data) => data.includes('tool-output-available'))
  expect(JSON.parse(String(output))).toMatchObject({ output: 'invoice 1\n2 items' })
  const stored = await (await ask(`${url}/sessions/a/messages`)).json()
  expect(JSON.stringify(stored)).toContain('invoice 1\\n2 items')
})

test('the texts of a tool result are apart in the stream of AG-UI', async () => {
  const { url } = await listen(agentOf([call, 'Done.'], { tools: [read] }), { agui: true })
  const body = { threadId: 'a', runId: 'r1', messages: [{ id: 'm1', role: 'user', content: 'Hi' }], tools: [] }
  const frames = await allOf(
    await ask(`${url}/agui`, { body: { ...body, context: [], state: {}, forwardedProps: {} } }),
  )
  const result = frames.map(({ data }) => data).find((data) => data.includes('TOOL_CALL_RESULT'))
  expect(JSON.parse(String(result))).toMatchObject({ content: 'invoice 1\n2 items' })
})

test('the texts of a result from an OpenAI client are apart for the model', async () => {
  const seen: Message[] = []
  const locate = {
    type: 'function',
    function: { name: 'locate', description: 'Where', parameters: { type: 'object' } },
  }
  const agent = agentOf([{ toolCalls: [{ name: 'locate', callId: 'c1', args: {} }] }, 'Done.'], {
    name: 'support',
  }).use({
    name: 'seen',
    model(ctx, next) {
      seen.splice(0, seen.length, ...ctx.messages)
      return next()
    },
  })
  const { url } = await listen(agent, { openai: true, secret: 'a secret of the test, and long' })
  const post = async (messages: unknown[]) =>
    (await ask(`${url}/v1/chat/completions`, { body: { model: 'support', messages, tools: [locate] } })).json()
  const question = { role: 'user', content: 'Where?' }
  const { choices } = (await post([question])) as { choices: { message: { tool_calls: { id: string }[] } }[] }
  const answer = choices[0]?.message
  await post([question, answer, { role: 'tool', tool_call_id: answer?.tool_calls[0]?.id, content: texts }])
  expect(JSON.stringify(seen.filter(({ role }) => role === 'tool'))).toContain('invoice 1\\n2 items')
  expect(seen.map(textOf)).toContain('Where?')
})
