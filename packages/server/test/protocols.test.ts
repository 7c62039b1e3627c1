import { expect, test } from 'vitest'
import { agentOf, allOf, ask, listen } from './kit.ts'

/** The clients themselves run in ui-stream.e2e.ts and openai.e2e.ts. */
test("a page of the AI SDK gets its stream, and OpenAI's clients get theirs, where they are switched on", async () => {
  const off = await listen(agentOf([]))
  for (const path of ['/chat', '/v1/chat/completions'])
    expect((await ask(`${off.url}${path}`, { body: {} })).status).toBe(404)
  const { url } = await listen(agentOf(['Hello.', 'Hello.']), { uiStream: 7, openai: true })
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
  const page = await allOf(await ask(`${url}/chat`, { body: { id: 'a', messages } }))
  const types = page.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data).type))
  expect(types).toEqual([
    'start',
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'finish-step',
    'finish',
    '[DONE]',
  ])
  const body = { model: 'agent', messages: [{ role: 'user', content: 'Hi' }] }
  expect(await (await ask(`${url}/v1/chat/completions`, { body })).json()).toMatchObject({
    choices: [{ message: { content: 'Hello.' } }],
  })
})
