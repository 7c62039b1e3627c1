import { Agent, type Model } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { ask, asStream, gated, kinds } from './kit.ts'

const user = { role: 'user', content: 'Again' }
const asked: [string, string, object, Record<string, string>][] = [
  ['the native routes', '/sessions/a/runs', { input: 'Again' }, {}],
  ['a native stream', '/sessions/a/runs', { input: 'Again' }, asStream],
  ['the AI SDK', '/chat', { id: 'a', messages: [{ role: 'user', parts: [{ type: 'text', text: 'Again' }] }] }, {}],
  ['AG-UI', '/agui', { threadId: 'a', runId: 'r', messages: [user] }, {}],
]
const named = { model: 'support', messages: [user] }
const chat: typeof asked = [false, true].map((stream) => [
  `Chat Completions, stream ${stream}`,
  '/v1/chat/completions',
  { ...named, stream },
  { 'x-session-id': 'a' },
])

describe.each(kinds)('A busy session of runs %s', (_, listen) => {
  test.each([...asked, ...chat])(
    'a second input by %s to a session that runs is 409, with a time to come back',
    async (...of) => {
      const [, path, body, headers] = of
      const { model, text, end } = gated()
      const { url } = await listen(new Agent({ version: '1', model, name: 'support' }), {
        uiStream: 7,
        openai: true,
        agui: true,
      })
      const first = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
      text('One.')
      await first
      const second = await ask(`${url}${path}`, { body, headers })
      expect([second.status, second.headers.get('retry-after')]).toEqual([409, expect.stringMatching(/^[1-9]\d*$/)])
      const told = (await second.json()) as { code?: string; error?: { code: string } }
      expect(path.startsWith('/v1') ? told.error?.code : told.code).toBe('session.busy')
      end()
      expect(await (await first).text()).toContain('"completed"')
    },
  )

  test('of two that go on with the same response at once the second is 409, in the shape of OpenAI', async () => {
    const [{ model: late, text, end }, quick] = [gated(), scriptedModel(['One.'])]
    const model: Model = { id: 'm', stream: (request) => (quick.calls === 0 ? quick : late).stream(request) }
    const { url } = await listen(new Agent({ version: '1', model, name: 'support' }), { openai: true })
    const post = (body: object) => ask(`${url}/v1/responses`, { body: { model: 'support', input: 'Hi', ...body } })
    const { id } = (await (await post({})).json()) as { id: string }
    const asked = post({ previous_response_id: id, stream: true })
    text('Two.')
    const second = await asked
    const third = await post({ previous_response_id: id })
    expect([third.status, third.headers.get('retry-after')]).toEqual([409, expect.stringMatching(/^[1-9]\d*$/)])
    expect(await third.json()).toMatchObject({ error: { code: 'session.busy' } })
    end()
    expect(await second.text()).toContain('Two.')
  })
})
