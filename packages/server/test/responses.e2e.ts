import { createOpenResponses } from '@ai-sdk/open-responses'
import { Agent, defineTool } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai7'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agentOf, gated, listen, silent } from './kit.ts'

const principal = (request: Request) => {
  const [tenantId, userId] = request.headers.get('authorization')?.replace('Bearer ', '').split('/') ?? []
  return userId === undefined ? undefined : { tenantId, userId }
}

async function clients(agent: Agent, options: object = {}) {
  const { url } = await listen(agent, { principal, openai: true, ...options })
  const of = (apiKey: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  const sdk = createOpenResponses({ name: 'allium', url: `${url}/v1/responses`, apiKey: 'acme/ann' })
  return { ann: of('acme/ann'), bob: of('acme/bob'), sdk }
}
const model = 'agent'

test('answers a response whole', async () => {
  const { ann } = await clients(agentOf(['Hello Ann.']))
  const response = await ann.responses.create({ model, input: 'Hi', metadata: { from: 'a test' } })
  expect(response).toMatchObject({ status: 'completed', error: null, metadata: { from: 'a test' } })
  expect([response.output_text, response.usage?.total_tokens]).toEqual(['Hello Ann.', 15])
})

test('streams a response, with a message for each step, tools of the agent run on the way', async () => {
  const noon = { name: 'clock', description: 'Tells the time.', jsonSchema: { type: 'object' }, execute: () => 'Noon.' }
  const steps = [{ text: 'I look.', toolCalls: [{ name: 'clock' }] }, 'It is noon.']
  const { ann } = await clients(agentOf(steps, { tools: [defineTool(noon)] }))
  const stream = ann.responses.stream({ model, input: 'When?' })
  const types = new Set<string>()
  for await (const { type } of stream) types.add(type)
  const { output, output_text, usage } = await stream.finalResponse()
  expect(output.map(({ type }) => type)).toEqual(['message', 'message'])
  expect([output_text, usage?.total_tokens]).toEqual(['I look.It is noon.', 30])
  expect([...types].at(-1)).toBe('response.completed')
})

const locate = {
  type: 'function' as const,
  name: 'locate',
  description: 'Where the user is',
  parameters: { type: 'object', properties: {} },
  strict: false,
}
const located = { toolCalls: [{ name: 'locate', callId: 'c1' }] }

test('hands a call of its own tool to a client, streaming, which answers behind that response', async () => {
  const { ann } = await clients(agentOf([located, 'In Oslo.']))
  const { id, output } = await ann.responses.stream({ model, input: 'Where am I?', tools: [locate] }).finalResponse()
  const call = output[0] as OpenAI.Responses.ResponseFunctionToolCall
  expect([call.type, call.name, call.arguments]).toEqual(['function_call', 'locate', '{}'])
  const input = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'Oslo' }]
  expect((await ann.responses.create({ model, input, previous_response_id: id })).output_text).toBe('In Oslo.')
})

test('runs tools of a client of the AI SDK there, which sends its whole history', async () => {
  const { sdk } = await clients(agentOf([located, 'In Oslo.']), { secret: 'a secret of the test' })
  const ran: unknown[] = []
  const execute = (input: unknown) => {
    ran.push(input)
    return 'Oslo'
  }
  const tools = { locate: tool({ description: 'Where', inputSchema: jsonSchema({ type: 'object' }), execute }) }
  const { text } = await generateText({ model: sdk(model), prompt: 'Where am I?', tools, stopWhen: stepCountIs(3) })
  expect([text, ran]).toEqual(['In Oslo.', [{}]])
})

test('goes on with the session of the response before, of which the client sends nothing', async () => {
  const scripted = scriptedModel(['Hello.', 'Ann.'])
  const { ann } = await clients(new Agent({ model: scripted }))
  const { id } = await ann.responses.create({ model, input: 'I am Ann.' })
  const next = await ann.responses.create({ model, input: 'Who am I?', previous_response_id: id })
  expect([next.output_text, next.previous_response_id]).toEqual(['Ann.', id])
  expect(scripted.requests[1]?.messages.map(({ content }) => content)).toEqual(['I am Ann.', 'Hello.', 'Who am I?'])
})

test('branches off behind a response that others have followed', async () => {
  const scripted = scriptedModel(['One.', 'Two.', 'Three.'])
  const { ann } = await clients(new Agent({ model: scripted }))
  const { id } = await ann.responses.create({ model, input: 'a' })
  await ann.responses.create({ model, input: 'b', previous_response_id: id })
  await ann.responses.create({ model, input: 'c', previous_response_id: id })
  expect(scripted.requests[2]?.messages.map(({ content }) => content)).toEqual(['a', 'One.', 'c'])
})

test.each(['resp_nothing', 'resp_', 'x'])("neither another's response nor %s can be gone on with", async (none) => {
  const { ann, bob } = await clients(agentOf(['Hello.']))
  const { id } = await ann.responses.create({ model, input: 'Hi' })
  for (const previous_response_id of [id, none])
    await expect(bob.responses.create({ model, input: 'Hi', previous_response_id })).rejects.toMatchObject({
      status: 404,
      code: 'session.not_found',
    })
})

test('with `store: false` the texts that a client sends are its history, and nothing is kept', async () => {
  const scripted = scriptedModel(['Ann.'])
  const { ann } = await clients(new Agent({ model: scripted, instructions: 'Be kind.' }))
  const input = [
    { role: 'developer' as const, content: 'Obey.' },
    { role: 'user' as const, content: 'I am Ann.' },
    { role: 'assistant' as const, content: 'Hello Ann.' },
    { role: 'user' as const, content: 'Who am I?' },
  ]
  const { id } = await ann.responses.create({ model, input, store: false, instructions: 'Obey.' })
  const texts = scripted.requests[0]?.messages.map(({ content }) => content)
  expect(texts).toEqual(['Be kind.', 'I am Ann.', 'Hello Ann.', 'Who am I?'])
  await expect(ann.responses.create({ model, input: 'Hi', previous_response_id: id })).rejects.toMatchObject({
    status: 404,
  })
})

test.each<[string, object]>([
  ['tools that no client runs', { tools: [{ type: 'web_search' }] }],
  ['a result of a tool', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
  ['a conversation', { conversation: 'conv_1' }],
  ['no input', { input: [] }],
  ['an answer as the last word', { input: [{ role: 'assistant', content: 'x' }] }],
])('%s of a client are refused in its own shape', async (_, body) => {
  const { ann } = await clients(agentOf([]))
  await expect(ann.responses.create({ model, input: 'Hi', ...body } as never)).rejects.toMatchObject({
    status: 400,
    code: 'request.invalid',
    type: 'invalid_request_error',
  })
})

test('a provider that fails has its status; once text has left, the response failed', async () => {
  const failed = Object.assign(new Error('sk-123'), { statusCode: 500 })
  const { ann } = await clients(agentOf([{ error: failed }, { error: failed }, { text: 'One', error: failed }]))
  const asked = { model, input: 'Hi' }
  await expect(ann.responses.create(asked)).rejects.toMatchObject({ status: 502, code: 'model.failed' })
  await expect(ann.responses.create({ ...asked, stream: true })).rejects.toMatchObject({ status: 502 })
  const late = await ann.responses.create({ ...asked, stream: true })
  let last: unknown
  for await (const event of late) last = event
  expect(last).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'model.failed' } },
  })
  expect(JSON.stringify(last)).not.toContain('sk-123')
})

test('a client that leaves ends its run: it could not come back', async () => {
  const { model: slow, text, closed } = gated()
  const { ann } = await clients(new Agent({ model: slow, logger: silent }))
  const stream = ann.responses.create({ model, input: 'Hi', stream: true })
  text('one ')
  for await (const { type } of await stream) if (type === 'response.output_text.delta') break
  await closed
})

test('the AI SDK generates and streams by Open Responses, and is told why it was refused', async () => {
  const { sdk } = await clients(agentOf(['Hello.', 'One two.']))
  expect((await generateText({ model: sdk('agent'), prompt: 'Hi' })).text).toBe('Hello.')
  const { text, finishReason } = streamText({ model: sdk('agent'), prompt: 'Hi' })
  expect([await text, await finishReason]).toEqual(['One two.', 'stop'])
  const refused = generateText({ model: sdk('nobody'), prompt: 'Hi', maxRetries: 0 })
  await expect(refused).rejects.toMatchObject({ statusCode: 404, message: 'There is no such path, or no such agent.' })
})

test('a response comes in the form that its client asks for, also that of the AI SDK', async () => {
  const { ann, sdk } = await clients(agentOf(['{"city":"Rome"}', '{"city":"Oslo"}', '{"city":"Bern"}']))
  const place = z.object({ city: z.string() })
  const asked = { model, input: 'Where?', text: { format: zodTextFormat(place, 'place') } }
  const whole = await ann.responses.parse(asked)
  expect([whole.output_parsed, whole.text?.format]).toMatchObject([{ city: 'Rome' }, { type: 'json_schema' }])
  expect((await ann.responses.stream(asked).finalResponse()).output_parsed).toEqual({ city: 'Oslo' })
  const { output } = await generateText({
    model: sdk(model),
    prompt: 'Where?',
    output: Output.object({ schema: place }),
  })
  expect(output).toEqual({ city: 'Bern' })
})
