import { Agent, type Middleware as Layer } from '@allium/core'
import { pii } from '@allium/guard'
import { memoryEventLog, memoryStore } from '@allium/store'
import { describe, expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { agentOf, allOf, ask, asStream, gated, kept, kinds, type Listen, listen, silent, textIn } from './kit.ts'

const steer = (url: string, body: unknown, as?: string) => ask(`${url}/sessions/a/steer`, { body, ...(as && { as }) })
const dataOf = (events: { data: string }[], type: string) =>
  events.map(({ data }) => JSON.parse(data || '{}')).find((event) => event.type === type)

async function running(listen: Listen, agent: (model: ReturnType<typeof gated>['model']) => Agent, options = {}) {
  const gate = gated()
  const { url } = await listen(agent(gate.model), options)
  const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  gate.text('One. ')
  return { ...gate, url, stream: await asked }
}

describe.each(kinds)('what is said to runs of runs %s', (_, listen) => {
  test('what is said to a run is heard before its next step, and its stream tells so by the id', async () => {
    const { url, stream, end } = await running(listen, (model) => new Agent({ version: '1', model }))
    const said = await steer(url, { message: 'In French.', id: 's1' })
    expect([said.status, await said.json()]).toEqual([202, { id: 's1' }])
    end()
    const events = await allOf(stream)
    expect(dataOf(events, 'steer:delivered')).toMatchObject({ id: 's1' })
    expect(textIn(events)).toBe('One. Next.')
  })

  test('the same message sent twice is heard once', async () => {
    const { url, stream, end } = await running(listen, (model) => new Agent({ version: '1', model }))
    for (let n = 0; n < 2; n++) await steer(url, { message: 'Once.', id: 's1' })
    end()
    expect((await allOf(stream)).filter(({ event }) => event === 'steer:delivered')).toHaveLength(1)
  })

  test('what a guard does not let in is given back with the reason, and the run goes on', async () => {
    const { url, stream, end } = await running(listen, (model) =>
      new Agent({ version: '1', model }).use({ name: 'polite', turn: polite }),
    )
    await steer(url, { message: 'Shout', id: 's1' })
    end()
    const events = await allOf(stream)
    expect(dataOf(events, 'steer:rejected')).toMatchObject({ id: 's1', reason: 'No shouting.' })
    expect(dataOf(events, 'turn:end')).toMatchObject({ status: 'completed' })
  })
  const polite: Layer['turn'] = (ctx, next) => {
    ctx.onInput(({ content }) => {
      if (content === 'Shout') ctx.block('No shouting.')
    })
    return next()
  }

  test('a layer that would not see the message gives it back by its name', async () => {
    const { url, stream, end } = await running(listen, (model) =>
      new Agent({ version: '1', model, logger: silent }).use({ name: 'reader', turn: reads }),
    )
    await steer(url, { message: 'Sneak in.', id: 's1' })
    end()
    expect(dataOf(await allOf(stream), 'steer:rejected').reason).toContain('"reader"')
  })

  const reads: Layer['turn'] = (ctx, next) => (ctx.input.length > 9 ? undefined : next())

  test('a run that is stopped gives back what it has not heard', async () => {
    const { url, stream } = await running(listen, (model) => new Agent({ version: '1', model, logger: silent }))
    await steer(url, { message: 'Too late.', id: 's1' })
    await ask(`${url}/sessions/a/stop`, { body: {} })
    expect(dataOf(await allOf(stream), 'steer:rejected')).toMatchObject({ id: 's1' })
  })

  test("nothing runs: 409; no session, or another's: 404; what is no message of a user: 400", async () => {
    const { url } = await listen(agentOf(['Hello.']))
    expect((await steer(url, { message: 'Hi' })).status).toBe(404)
    await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
    const refused = await steer(url, { message: 'Hi' })
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([409, 'run.not_running'])
    expect((await steer(url, { message: 'Hi' }, 'acme/bob')).status).toBe(404)
    const bad = [
      {},
      { message: '' },
      { message: [{ type: 'tool-call' }] },
      { message: 'Hi', id: '' },
      { message: 'Hi', role: 'system' },
    ]
    for (const body of bad) expect((await steer(url, body)).status).toBe(400)
  })

  test('the message passes the guards of an input', async () => {
    const seen: unknown[] = []
    const { url, stream, end } = await running(listen, (model) =>
      new Agent({
        version: '1',
        model: {
          id: 'seen',
          stream(request) {
            seen.push(request.messages.at(-1)?.content)
            return model.stream(request)
          },
        },
      }).use(pii()),
    )
    await steer(url, { message: 'I am ann@acme.com' })
    end()
    await allOf(stream)
    expect(seen).toHaveLength(2)
    expect(JSON.stringify(seen)).not.toContain('ann@acme.com')
  })

  test('the client says something to its run', async () => {
    const { url, end } = await running(listen, (model) => new Agent({ version: '1', model }))
    const session = createClient<Agent>({ url, headers: () => ({ authorization: 'acme/ann' }) }).session('a')
    const { id } = await session.steer('In French.')
    end()
    for await (const event of session.follow()) if (event.type === 'steer:delivered') expect(event.id).toBe(id)
  })
})

test('a message reaches a run of another process by the log that they share', async () => {
  const [store, events] = [memoryStore(), memoryEventLog()]
  const { stream, end } = await running(listen, (model) => kept(new Agent({ version: '1', model }), store).agent, {
    sessions: store,
    events,
  })
  const other = await listen(kept(agentOf([]), store).agent, { sessions: store, events })
  expect((await steer(other.url, { message: 'Hear me.', id: 's1' })).status).toBe(202)
  end()
  expect(dataOf(await allOf(stream), 'steer:delivered')).toMatchObject({ id: 's1' })
})
