import { Agent, defineTool } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ClientError, createClient } from '../src/client.ts'
import { agentOf, ask, kinds, listen, silent } from './kit.ts'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const at = (url: string) =>
  createClient<Agent>({ url, headers: () => ({ authorization: 'acme/ann' }), backoff: async () => {} })

describe.each(kinds)('An answer in a form, of runs %s', (_, on) => {
  test('is asked of the model by its schema, and told as text and as what was parsed', async () => {
    const model = scriptedModel(['{"city":"Rome"}'])
    const { url } = await on(new Agent({ version: '1', model, logger: silent }))
    const answer = await ask(`${url}/sessions/a/runs`, { body: { input: 'Where?', output: city } })
    expect(await answer.json()).toMatchObject({ text: '{"city":"Rome"}', output: { city: 'Rome' } })
    expect(model.requests[0]?.responseFormat).toMatchObject({ type: 'json', schema: city })
  })

  test('is what the schema of a client makes of it', async () => {
    const { url } = await on(agentOf(['```json\n{"at":"2026-11-24"}\n```', 'Hello.', '{"at":5}']))
    const session = at(url).session('a')
    const output = z.object({ at: z.string().transform((text) => new Date(text)) })
    expect((await session.run('When?', { output })).output?.at.getUTCFullYear()).toBe(2026)
    expect((await session.run('Hi')).output).toBe('Hello.')
    const refused = await session.run('When?', { output }).then(undefined, (error) => error)
    expect([refused instanceof ClientError, refused.code]).toEqual([true, 'output.invalid'])
  })

  test('waits for the calls that wait, and comes by the tool that the model answers with', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays',
      jsonSchema: { type: 'object' },
      requireApproval: true,
      execute: () => 'Paid.',
    })
    const model = scriptedModel([
      { toolCalls: [{ name: 'pay' }] },
      { toolCalls: [{ name: 'answer', args: { paid: true } }] },
    ])
    const { url } = await on(new Agent({ version: '1', model, tools: [pay], logger: silent }))
    const session = at(url).session('a')
    const output = z.object({ paid: z.boolean() })
    const first = await session.run('Pay.', { output })
    expect([first.status, first.output]).toEqual(['suspended', null])
    expect((await session.approve(first.pending[0] as never, { output })).output).toEqual({ paid: true })
  })

  test('stands for the run of a key, as its input does', async () => {
    const { url } = await on(agentOf(['{"city":"Rome"}']))
    const headers = { 'idempotency-key': 'k' }
    const asked = (output: object | undefined) =>
      ask(`${url}/sessions/a/runs`, { body: { input: 'Where?', output }, headers })
    expect((await asked(city)).status).toBe(200)
    expect(await (await asked({ type: 'object' })).json()).toMatchObject({ code: 'run.key_reused' })
  })
})

test('A form that is no schema of an object is refused', async () => {
  const { url } = await listen(agentOf([]), { openai: true })
  const form = { type: 'json_schema', name: 'answer', json_schema: { name: 'answer', schema: { type: 'array' } } }
  const messages = [{ role: 'user', content: 'Hi' }]
  const asked = [
    [`${url}/sessions/a/runs`, { input: 'Hi', output: { type: 'string' } }],
    [`${url}/sessions/a/runs`, { input: 'Hi', output: 'city' }],
    [`${url}/v1/chat/completions`, { model: 'agent', messages, response_format: form }],
    [`${url}/v1/responses`, { model: 'agent', input: 'Hi', text: { format: { ...form, schema: undefined } } }],
  ] as const
  for (const [path, body] of asked) expect((await ask(path, { body })).status).toBe(400)
})
