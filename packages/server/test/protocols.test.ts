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

/** What https://www.openresponses.org requires of a response, and of which type it is. */
const required = {
  id: 'string',
  object: 'string',
  created_at: 'number',
  completed_at: 'number null',
  status: 'string',
  incomplete_details: 'object null',
  model: 'string',
  previous_response_id: 'string null',
  instructions: 'string null',
  output: 'array',
  error: 'object null',
  tools: 'array',
  tool_choice: 'string',
  truncation: 'string',
  parallel_tool_calls: 'boolean',
  text: 'object',
  top_p: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  top_logprobs: 'number',
  temperature: 'number',
  reasoning: 'object null',
  user: 'string null',
  usage: 'object null',
  max_output_tokens: 'number null',
  max_tool_calls: 'number null',
  store: 'boolean',
  background: 'boolean',
  service_tier: 'string',
  metadata: 'object',
  safety_identifier: 'string null',
  prompt_cache_key: 'string null',
}

function lacks(response: Record<string, unknown>): string[] {
  const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
  const wrong = Object.entries(required).filter(([name, types]) => !types.split(' ').includes(typeOf(response[name])))
  return wrong.map(([name]) => name)
}

test('a response has every field that Open Responses requires, whole and in each event that has one', async () => {
  const failed = Object.assign(new Error('No.'), { statusCode: 500 })
  const { url } = await listen(agentOf(['Hello.', 'Hello.', { text: 'Hel', error: failed }]), { openai: true })
  const body = { model: 'agent', input: 'Hi' }
  expect(lacks((await (await ask(`${url}/v1/responses`, { body })).json()) as never)).toEqual([])
  for (const _ of ['completed', 'failed']) {
    const all = await allOf(await ask(`${url}/v1/responses`, { body: { ...body, stream: true } }))
    expect(all.pop()?.data).toBe('[DONE]')
    const events = all.map(({ data }) => JSON.parse(data))
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(events.flatMap(({ response }) => (response ? lacks(response) : []))).toEqual([])
    expect(all.map(({ event }) => event)).toEqual(events.map(({ type }) => type))
  }
})

test('a response that is kept is given again, to its owner alone', async () => {
  const { url } = await listen(agentOf(['Hello Ann.'], { name: 'support' }), { openai: true })
  const made = await ask(`${url}/v1/responses`, { body: { model: 'support', input: 'Hi' } })
  const { id } = (await made.json()) as { id: string }
  const again = await ask(`${url}/v1/responses/${id}`)
  expect([again.status, await again.json()]).toMatchObject([
    200,
    { id, model: 'support', status: 'completed', output: [{ content: [{ text: 'Hello Ann.' }] }] },
  ])
  for (const as of ['acme/bob', 'globex/ann']) expect((await ask(`${url}/v1/responses/${id}`, { as })).status).toBe(404)
  expect((await ask(`${url}/v1/responses/resp_x`)).status).toBe(404)
  expect((await ask(`${url}/v1/responses/${id}`, { as: '' })).status).toBe(401)
})
