import { Agent } from '@allium/core'
import { memoryEventLog, memoryStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agentOf, allOf, ask, asStream, eventsOf, fileOf, gated, kept, kinds, listen, silent, textIn } from './kit.ts'

/** A process of its own, with its own handle on the same file. */
function listenAt(file: string, agent: Agent) {
  const store = sqlite(file)
  onTestFinished(() => store.close())
  kept(agent, store.sessions)
  return listen(agent, { sessions: store.sessions, events: store.events })
}

const remove = (url: string, id = 'a') => ask(`${url}/sessions/${id}`, { method: 'DELETE' })

describe.each(kinds)('a deleted session with runs %s', (_, listen) => {
  test('gives nobody its last answer, by no route that replays one', async () => {
    const { url } = await listen(agentOf(['A secret.', 'Another.']), { uiStream: 6 })
    for (const input of ['One', 'Two']) await ask(`${url}/sessions/a/runs`, { body: { input } })
    const events = await allOf(await ask(`${url}/sessions/a/events`))
    const [id = ''] = events.flatMap(({ id }) => id ?? [])
    expect((await remove(url)).status).toBe(204)
    const headers: Record<string, string>[] = [{}, { 'last-event-id': id }, { 'last-event-id': '0.nothing' }]
    const replies = await Promise.all(headers.map((headers) => ask(`${url}/sessions/a/events`, { headers })))
    replies.push(await ask(`${url}/chat/a/stream`))
    expect(replies.map(({ status }) => status)).toEqual([204, 204, 204, 204])
  })

  test('ends its running run, and the streams of its readers, who get nothing more of it', async () => {
    const { model, text, closed } = gated()
    const { url } = await listen(new Agent({ version: '1', model, logger: silent }))
    const asked = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    text('Before.')
    const events = eventsOf(asked)
    for await (const { data } of events) if (data.includes('Before.')) break
    const following = allOf(await ask(`${url}/sessions/a/events`))
    expect((await remove(url)).status).toBe(204)
    text('After.')
    await closed
    expect(textIn(await following)).not.toContain('After.')
    expect((await ask(`${url}/sessions/a/events`)).status).toBe(204)
    expect((await ask(`${url}/sessions/a/messages`)).status).toBe(404)
  })
})

test('a run in another process ends when its session is deleted, and its readers there with it', async () => {
  const file = fileOf()
  const { model, text, closed } = gated()
  const one = await listenAt(file, new Agent({ version: '1', model, logger: silent }))
  const other = await listenAt(file, agentOf(['Next.']))
  const asked = allOf(await ask(`${one.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  text('Before.')
  for await (const { data } of eventsOf(await ask(`${other.url}/sessions/a/events`)))
    if (data.includes('Before.')) break
  expect((await remove(other.url)).status).toBe(204)
  await closed
  text('After.')
  expect(textIn(await asked)).toBe('Before.')
  expect((await ask(`${one.url}/sessions/a/events`)).status).toBe(204)
})

test('events that outlive a session which the application erased in its own store are given to nobody', async () => {
  const { agent, sessions } = kept(agentOf(['A secret.']), memoryStore())
  const { url } = await listen(agent, { sessions, events: memoryEventLog() })
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
  await sessions.erase({ tenant: 'acme', owner: 'ann' })
  expect((await ask(`${url}/sessions/a/events`)).status).toBe(204)
})

test('a key of a deleted session begins a new run', async () => {
  const { url } = await listen(agentOf(['A secret.', 'Another.']))
  const input = { body: { input: 'Hi' }, headers: { 'idempotency-key': 'k1' } }
  await ask(`${url}/sessions/a/runs`, input)
  await remove(url)
  const again = (await (await ask(`${url}/sessions/a/runs`, input)).json()) as { text: string }
  expect(again.text).toBe('Another.')
})
