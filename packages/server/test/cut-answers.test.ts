import { Agent, type Model } from '@allium/core'
import { expect, test } from 'vitest'
import { agentOf, ask, kinds, listen, silent } from './kit.ts'

interface Response {
  id: string
  status: string
  incomplete_details: { reason: string } | null
  completed_at: number | null
  output: { status: string }[]
}

/** The JSON objects of a stream, and whether it says that it is done. */
function parse(text: string) {
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line = '']) => line)
  const isDone = data.at(-1) === '[DONE]'
  return { isDone, events: data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line)) }
}

const seen = ({ status, incomplete_details: details, completed_at: at, output }: Response) => [
  status,
  details?.reason,
  at === null,
  output.at(-1)?.status,
]

test.each(kinds)('an answer cut at the limit of tokens is incomplete in each form, for runs %s', async (_, listen) => {
  const cut = { text: 'Half of an ans', finishReason: 'length' } as const
  const { url } = await listen(agentOf([cut, cut, cut, cut, cut]), { openai: true })
  const post = (path: string, body: object) => ask(`${url}${path}`, { body })
  const response = { model: 'agent', input: 'Hi' }
  const created = (await (await post('/v1/responses', response)).json()) as Response
  const stored = (await (await ask(`${url}/v1/responses/${created.id}`)).json()) as Response
  const { events } = parse(await (await post('/v1/responses', { ...response, stream: true })).text())
  const streamed = events.at(-1) as { type: string; response: Response }
  for (const one of [created, stored, streamed.response])
    expect(seen(one)).toEqual(['incomplete', 'max_output_tokens', true, 'incomplete'])
  expect([streamed.type, events.find(({ type }) => type === 'response.output_item.done').item.status]).toEqual([
    'response.incomplete',
    'incomplete',
  ])

  const chat = { model: 'agent', messages: [{ role: 'user', content: 'Hi' }] }
  const completion = (await (await post('/v1/chat/completions', chat)).json()) as { choices: object[] }
  const chunks = parse(await (await post('/v1/chat/completions', { ...chat, stream: true })).text())
  expect(completion.choices[0]).toMatchObject({ finish_reason: 'length' })
  expect([chunks.events.at(-1).choices[0].finish_reason, chunks.isDone]).toEqual(['length', true])

  const key = { 'idempotency-key': 'a' }
  const run = async () => (await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: key })).json()
  for (const _ of ['first', 'again']) expect(await run()).toMatchObject({ finishReason: 'length', status: 'completed' })
})

const refund = { name: 'refund', description: 'Gives money back.', jsonSchema: { type: 'object' } }
const waiting = {
  tools: [{ ...refund, requireApproval: true, execute: () => 'Done.' }],
  approvals: { secret: 'x'.repeat(32) },
}

test.each(kinds)(
  'an answer that waits for an approval is no complete one in any form, for runs %s',
  async (_, listen) => {
    const asks = { text: 'I ask.', toolCalls: [{ name: 'refund' }] }
    const { url } = await listen(agentOf([asks, asks, asks, asks], waiting), { openai: true })
    const post = (path: string, body: object) => ask(`${url}${path}`, { body })
    const response = { model: 'agent', input: 'Refund it.' }
    const created = (await (await post('/v1/responses', response)).json()) as Response
    const stored = (await (await ask(`${url}/v1/responses/${created.id}`)).json()) as Response
    const { events } = parse(await (await post('/v1/responses', { ...response, stream: true })).text())
    for (const one of [created, stored, events.at(-1).response])
      expect(seen(one)).toEqual(['incomplete', 'approval', true, expect.any(String)])

    const chat = { model: 'agent', messages: [{ role: 'user', content: 'Refund it.' }] }
    const whole = await post('/v1/chat/completions', chat)
    expect([whole.status, await whole.json()]).toEqual([
      409,
      { error: expect.objectContaining({ code: 'approval.pending' }) },
    ])
    const chunks = parse(await (await post('/v1/chat/completions', { ...chat, stream: true })).text())
    expect([chunks.isDone, chunks.events.at(-1)]).toMatchObject([false, { error: { code: 'approval.pending' } }])
  },
)

test('the events of a stored response cannot be asked for', async () => {
  const { url } = await listen(agentOf(['Hello.']), { openai: true })
  const { id } = (await (
    await ask(`${url}/v1/responses`, { body: { model: 'agent', input: 'Hi' } })
  ).json()) as Response
  const streamed = await ask(`${url}/v1/responses/${id}?stream=true`)
  expect([streamed.status, await streamed.json()]).toMatchObject([400, { error: { param: 'stream' } }])
  expect((await ask(`${url}/v1/responses/${id}?stream=false`)).status).toBe(200)
})

test('an answer that a deploy cuts is no complete one for clients of chat completions', async () => {
  const chat = { model: 'agent', messages: [{ role: 'user', content: 'Hi' }], stream: true }
  const { text, isDone, events } = await drained('/v1/chat/completions', chat)
  expect([text, isDone]).toEqual([expect.not.stringContaining('"stop"'), false])
  expect(events.at(-1)).toMatchObject({ error: { code: 'run.interrupted' } })
  const whole = await drained('/v1/chat/completions', { ...chat, stream: false })
  expect([whole.status, JSON.parse(whole.text)]).toEqual([
    409,
    { error: expect.objectContaining({ code: 'run.interrupted' }) },
  ])
})

test('an answer that a deploy cuts is an incomplete response, as a stream, as JSON and stored', async () => {
  const body = { model: 'agent', input: 'Hi' }
  const { events } = await drained('/v1/responses', { ...body, stream: true })
  expect(seen(events.at(-1).response)).toEqual(['incomplete', 'aborted', true, 'incomplete'])
  const { text, url } = await drained('/v1/responses', body)
  const created = JSON.parse(text) as Response
  const stored = (await (await ask(`${url}/v1/responses/${created.id}`)).json()) as Response
  expect([seen(created), seen(stored)]).toEqual(Array(2).fill(['incomplete', 'aborted', true, 'incomplete']))
})

test('a run that failed is a failed response when it is read again', async () => {
  const error = Object.assign(new Error('Overloaded'), { statusCode: 500 })
  const { url } = await listen(agentOf([{ text: 'One', error }]), { openai: true })
  const body = { model: 'agent', input: 'Hi', stream: true }
  const { events } = parse(await (await ask(`${url}/v1/responses`, { body })).text())
  const streamed = events.at(-1).response
  const stored = (await (await ask(`${url}/v1/responses/${streamed.id}`)).json()) as Response
  expect([streamed.status, seen(stored)]).toEqual(['failed', ['failed', undefined, true, 'incomplete']])
  expect(stored).toMatchObject({ error: { code: expect.any(String) } })
})

/** Asks for an answer, and stops the server without grace while the answer is under way. */
async function drained(path: string, body: object) {
  let isUnderWay = () => {}
  const underWay = new Promise<void>((resolve) => (isUnderWay = resolve))
  const model: Model = {
    id: 'slow',
    async *stream({ signal }) {
      yield { type: 'text-delta', delta: 'Half of an ans' }
      isUnderWay()
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const { url, made } = await listen(new Agent({ model, logger: silent }), { openai: true })
  const asked = ask(`${url}${path}`, { body })
  await underWay
  await made.drain({ timeout: 0 })
  const answer = await asked
  const text = await answer.text()
  return { url, status: answer.status, text, ...parse(text) }
}
