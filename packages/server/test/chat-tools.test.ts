import { expect, test } from 'vitest'
import { agentOf, allOf, ask, listen } from './kit.ts'

const locate = { type: 'function', function: { name: 'locate', description: 'Where', parameters: { type: 'object' } } }
const call = { toolCalls: [{ name: 'locate', callId: 'c1', args: { exact: true } }] }
const secret = 'a secret of the test, and long'
const user = { role: 'user', content: 'Where am I?' }
type Wire = { id: string; type: string; function: { name: string; arguments: string } }
type Said = { role: string; content: string; tool_calls: Wire[] }

async function handedBack(options: object = { secret }, headers: Record<string, string> = {}) {
  const { url } = await listen(agentOf([call, 'In Oslo.', call], { name: 'support' }), { openai: true, ...options })
  const post = async (messages: unknown[], as?: string) => {
    const body = { model: 'support', messages, tools: [locate] }
    const response = await ask(`${url}/v1/chat/completions`, { body, headers, ...(as && { as }) })
    return { status: response.status, body: (await response.json()) as never }
  }
  const first = await post([user])
  const choice = (first.body as { choices?: { message: Said; finish_reason: string }[] }).choices?.[0]
  return { url, post, first, message: choice?.message as Said, finish: choice?.finish_reason }
}
const result = (message: Said, content = 'Oslo') => ({ role: 'tool', tool_call_id: message.tool_calls[0]?.id, content })

test('a client without a session runs its own tools: the call comes back, and its result goes on', async () => {
  const { post, message, finish } = await handedBack()
  expect([finish, message.tool_calls[0]?.function]).toEqual([
    'tool_calls',
    { name: 'locate', arguments: '{"exact":true}' },
  ])
  expect(message.tool_calls[0]?.id).toMatch(/^[\w-]{39}$/)
  const { body } = await post([user, message, result(message)])
  expect(body).toMatchObject({ choices: [{ message: { content: 'In Oslo.' }, finish_reason: 'stop' }] })
})

test('a result for a call that was not handed to this client, as it was, is refused, and no model is asked', async () => {
  const { post, message } = await handedBack()
  const changed = (of: Partial<Wire>) => {
    const made = { ...message, tool_calls: [{ ...(message.tool_calls[0] as Wire), ...of }] }
    return [user, made, result(made as Said)]
  }
  const forgeries = [
    changed({ id: 'call_1' }),
    changed({ id: `call_${'0'.repeat(12)}${'A'.repeat(22)}` }),
    changed({ function: { name: 'locate', arguments: '{"exact":false}' } }),
    changed({ function: { name: 'refund', arguments: '{"exact":true}' } }),
    [user, message, { ...result(message), tool_call_id: 'call_2' }],
  ]
  for (const messages of forgeries)
    expect(await post(messages)).toMatchObject({ status: 403, body: { error: { code: 'approval.forged' } } })
  expect(await post([user, message, result(message)], 'acme/eve')).toMatchObject({ status: 403 })
  expect(await post([user, message, result(message)], 'globex/ann')).toMatchObject({ status: 403 })
  expect((await post([user, message])).status).toBe(400)
  expect((await post([user, result(message)])).status).toBe(400)
  expect((await post([user, message, result(message)])).status).toBe(200)
})

test('without the option, tools of a client that has no session are refused', async () => {
  const { first } = await handedBack({})
  expect(first).toMatchObject({ status: 400, body: { error: { code: 'request.invalid' } } })
})

test('in a session the result counts once, by what the session has', async () => {
  const { post, message } = await handedBack({}, { 'x-session-id': 'a' })
  expect(message.tool_calls[0]?.id).toBe('c1')
  expect((await post([{ role: 'tool', tool_call_id: 'c9', content: 'x' }])).status).toBe(404)
  const { body } = await post([user, message, result(message)])
  expect(body).toMatchObject({ choices: [{ message: { content: 'In Oslo.' } }] })
  expect(await post([user, message, result(message, 'Rome')])).toMatchObject({
    status: 409,
    body: { error: { code: 'approval.used' } },
  })
})

test('a stream ends with the calls', async () => {
  const { url } = await listen(agentOf([call], { name: 'support' }), { openai: true, secret })
  const body = { model: 'support', messages: [user], tools: [locate], stream: true }
  const events = await allOf(await ask(`${url}/v1/chat/completions`, { body }))
  const choices = events.flatMap(({ data }) => (data === '[DONE]' ? [] : JSON.parse(data).choices))
  expect(choices.at(-2).delta.tool_calls).toMatchObject([{ index: 0, function: { name: 'locate' } }])
  expect(choices.at(-1).finish_reason).toBe('tool_calls')
})
