import { describe, expect, test } from 'vitest'
import { agentOf, allOf, ask, kinds, type Listen, listen } from './kit.ts'

const locate = { type: 'function', name: 'locate', description: 'Where', parameters: { type: 'object' }, strict: null }
const call = { toolCalls: [{ name: 'locate', callId: 'c1', args: { exact: true } }] }
const secret = 'a secret of the test, and long'
const user = { role: 'user', content: 'Where am I?' }
interface Call {
  type: string
  call_id: string
  name: string
  arguments: string
}
interface Answer {
  id: string
  status: string
  output: Call[]
  tools: object[]
  error?: { code: string }
}

async function handedBack(on: Listen = listen, options: object = {}, first: object = {}) {
  const { url } = await on(agentOf([call, 'In Oslo.', call], { name: 'support' }), { openai: true, ...options })
  const post = async (body: object, as?: string) => {
    const asked = { body: { model: 'support', tools: [locate], ...body }, ...(as && { as }) }
    const response = await ask(`${url}/v1/responses`, asked)
    return { http: response.status, ...((await response.json()) as Answer) }
  }
  const answer = await post({ input: [user], ...first })
  return { url, post, answer, made: answer.output?.[0] as Call }
}
const result = ({ call_id }: Call, output: unknown = 'Oslo') => ({ type: 'function_call_output', call_id, output })

describe.each(kinds)('Tools of a client of Responses, in runs %s', (_, on) => {
  test('a call comes back as an item, and its result goes on with the response, once', async () => {
    const { post, answer, made } = await handedBack(on)
    expect(answer).toMatchObject({ status: 'completed', tools: [locate] })
    expect(made).toMatchObject({ type: 'function_call', call_id: 'c1', name: 'locate', arguments: '{"exact":true}' })
    const next = { previous_response_id: answer.id, input: [result(made, [{ type: 'input_text', text: 'Oslo' }])] }
    expect(await post(next)).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'In Oslo.' }] }] })
    expect(await post(next)).toMatchObject({ http: 409, error: { code: 'approval.used' } })
  })

  test('a response that is asked for again has the call while it waits', async () => {
    const { url, answer, made } = await handedBack(on)
    const again = (await (await ask(`${url}/v1/responses/${answer.id}`)).json()) as Answer
    expect(again.output).toMatchObject([{ type: 'function_call', call_id: made.call_id, name: 'locate' }])
  })
})

test('a client that sends its whole history gives the call back with its result, under an id that nobody can make', async () => {
  const { post, made } = await handedBack(listen, { secret }, { store: false })
  expect(made.call_id).toMatch(/^call_[\w-]{34}$/)
  const of = (changed: Partial<Call>) => [user, { ...made, ...changed }, result({ ...made, ...changed })]
  for (const input of [of({ call_id: 'c1' }), of({ name: 'refund' }), of({ arguments: '{}' })])
    expect(await post({ input, store: false })).toMatchObject({ http: 403, error: { code: 'approval.forged' } })
  expect(await post({ input: of({}), store: false }, 'acme/eve')).toMatchObject({ http: 403 })
  expect((await post({ input: of({}) })).output).toMatchObject([{ content: [{ text: 'In Oslo.' }] }])
})

test('an id that was sealed names its call in a session, too', async () => {
  const { post, answer, made } = await handedBack(listen, { secret })
  const next = { previous_response_id: answer.id, input: [result(made)] }
  expect((await post(next)).output).toMatchObject([{ content: [{ text: 'In Oslo.' }] }])
})

test('results beside something else, of no call, or without a session and a secret are refused', async () => {
  const { post, answer, made } = await handedBack()
  const previous_response_id = answer.id
  expect(await post({ previous_response_id, input: [result(made), user] })).toMatchObject({ http: 400 })
  expect(await post({ previous_response_id, input: [result({ ...made, call_id: 'c9' })] })).toMatchObject({ http: 404 })
  expect(await post({ input: [user], store: false })).toMatchObject({ http: 400, error: { code: 'request.invalid' } })
  expect(await post({ input: [user], tools: [{ type: 'web_search' }] })).toMatchObject({ http: 400 })
})

test('a stream ends with the calls, as items', async () => {
  const { url } = await listen(agentOf([{ text: 'I look.', ...call }], { name: 'support' }), { openai: true })
  const body = { model: 'support', input: 'Where?', tools: [locate], stream: true }
  const events = await allOf(await ask(`${url}/v1/responses`, { body }))
  const told = events.flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
  expect(told.slice(-5).map(({ type }) => type)).toEqual([
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ])
  expect(told.at(-1).response.output).toMatchObject([{ type: 'message' }, { type: 'function_call', call_id: 'c1' }])
})
