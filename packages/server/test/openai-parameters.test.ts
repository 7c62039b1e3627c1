import { defineTool } from '@allium/core'
import { expect, test } from 'vitest'
import { agentOf, ask, kept, listen } from './kit.ts'

const chat = ['/v1/chat/completions', { model: 'agent', messages: [{ role: 'user', content: 'Hi' }] }] as const
const responses = ['/v1/responses', { model: 'agent', input: 'Hi' }] as const

async function asked([path, body]: typeof chat | typeof responses, more: object) {
  const { url } = await listen(agentOf(['Hello.']), { openai: true })
  const response = await ask(`${url}${path}`, { body: { ...body, ...more } })
  return [response.status, ((await response.json()) as { error?: { param?: string; type?: string } }).error] as const
}

test.each<[typeof chat | typeof responses, object, string]>([
  [chat, { n: 3 }, 'n'],
  [chat, { logprobs: true }, 'logprobs'],
  [chat, { top_logprobs: 5 }, 'top_logprobs'],
  [chat, { logit_bias: { 50256: -100 } }, 'logit_bias'],
  [chat, { stop: ['\n'] }, 'stop'],
  [chat, { modalities: ['text', 'audio'] }, 'modalities'],
  [chat, { audio: { voice: 'alloy', format: 'mp3' } }, 'audio'],
  [chat, { web_search_options: {} }, 'web_search_options'],
  [chat, { parallel_tool_calls: false }, 'parallel_tool_calls'],
  [chat, { tool_choice: 'required' }, 'tool_choice'],
  [chat, { functions: [{ name: 'f' }] }, 'functions'],
  [chat, { response_format: { type: 'json_object' } }, 'response_format'],
  [chat, { stream: 'yes' }, 'stream'],
  [chat, { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0].type'],
  [responses, { background: true }, 'background'],
  [responses, { conversation: 'conv_1' }, 'conversation'],
  [responses, { prompt: { id: 'pmpt_1' } }, 'prompt'],
  [responses, { top_logprobs: 2 }, 'top_logprobs'],
  [responses, { include: ['message.output_text.logprobs'] }, 'include'],
  [responses, { tool_choice: { type: 'function', name: 'f' } }, 'tool_choice'],
  [responses, { text: { format: { type: 'json_object' } } }, 'text.format'],
  [responses, { metadata: { key: 7 } }, 'metadata.key'],
  [responses, { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].role'],
])('%j with %j is refused, and names the parameter', async (of, more, param) => {
  expect(await asked(of, more)).toEqual([400, expect.objectContaining({ type: 'invalid_request_error', param })])
})

test.each<[typeof chat | typeof responses, object]>([
  [chat, { n: 1, logprobs: false, top_logprobs: null, logit_bias: {}, stop: null, modalities: ['text'] }],
  [chat, { parallel_tool_calls: true, tool_choice: 'none', functions: [], response_format: { type: 'text' } }],
  [chat, { temperature: 0, top_p: 1, seed: 7, max_tokens: 9, max_completion_tokens: 9, presence_penalty: 2 }],
  [
    chat,
    { frequency_penalty: 1, user: 'u', service_tier: 'auto', reasoning_effort: 'low', verbosity: 'low', store: true },
  ],
  [
    chat,
    { prediction: { type: 'content', content: 'x' }, metadata: { a: 'b' }, an_unknown_field: { of: ['any', 'kind'] } },
  ],
  [responses, { background: false, include: ['reasoning.encrypted_content'], truncation: 'auto', max_tool_calls: 3 }],
  [responses, { instructions: 'Be kind.', max_output_tokens: 5, reasoning: { effort: 'low' }, stream_options: {} }],
])('%j with %j is answered: what only tunes a model is the business of the agent', async (of, more) => {
  expect((await asked(of, more))[0]).toBe(200)
})

test('the arguments of a call that nest 200,000 deep are refused by their field', async () => {
  const { url } = await listen(agentOf([]), { openai: true, secret: 'a secret of the test, and long' })
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: deep } }
  const messages = [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ]
  const response = await ask(`${url}/v1/chat/completions`, { body: { model: 'agent', messages } })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { param: 'messages[0].tool_calls[0].function.arguments' } },
  ])
})

test('the id of a response that holds a NUL is that of no response', async () => {
  const { url } = await listen(agentOf([]), { openai: true })
  const id = `resp_${Buffer.from(JSON.stringify(['a', 'run\0'])).toString('base64url')}`
  expect((await ask(`${url}/v1/responses/${id}`)).status).toBe(404)
  expect((await asked(responses, { previous_response_id: id }))[0]).toBe(404)
})

test.each(['/chat', '/agui'])('a file of %s with a media type that is none is refused by its field', async (path) => {
  const { url } = await listen(agentOf([]), { uiStream: 7, agui: true })
  const mediaType = 'image/png\r\nx: y'
  const body =
    path === '/chat'
      ? {
          id: 'a',
          messages: [{ role: 'user', parts: [{ type: 'file', url: 'data:image/png;base64,aGk=', mediaType }] }],
        }
      : {
          threadId: 'a',
          runId: 'r',
          messages: [
            {
              role: 'user',
              content: [{ type: 'image', source: { type: 'data', value: 'aGk=', mimeType: mediaType } }],
            },
          ],
        }
  const response = await ask(`${url}${path}`, { body })
  expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(/media?Type|mimeType/)])
})

test('a request that is refused branches off no session', async () => {
  const tool = defineTool({ name: 'mine', description: 'd', jsonSchema: { type: 'object' }, execute: () => 'x' })
  const { agent, sessions } = kept(agentOf(['One.', 'Two.'], { tools: [tool] }))
  const { url } = await listen(agent, { sessions, openai: true })
  const post = async (more: object) => {
    const response = await ask(`${url}/v1/responses`, { body: { model: 'agent', input: 'Hi', ...more } })
    return [response.status, ((await response.json()) as { id: string }).id] as const
  }
  const [, first] = await post({})
  await post({ previous_response_id: first })
  const same = { type: 'function', name: 'mine', parameters: {} }
  expect((await post({ previous_response_id: first, input: [{ role: 'assistant', content: 'x' }] }))[0]).toBe(400)
  expect((await post({ previous_response_id: first, tools: [same] }))[0]).toBe(400)
  const list = async () => (await sessions.list({ tenant: 'acme', limit: 10 })).items.length
  await expect.poll(list).toBe(1)
})
