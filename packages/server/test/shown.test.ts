import { Agent } from '@allium/core'
import { pii } from '@allium/guard'
import { sqlite } from '@allium/store-sqlite'
import type { ScriptedStep } from '@allium/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  agentOf,
  allOf,
  ask,
  asStream,
  fileOf,
  gated,
  kept,
  kinds,
  type Listen,
  listen,
  mirrored,
  textIn,
} from './kit.ts'

const mail = 'ann@acme.example'
const echo: ScriptedStep = 'I wrote to [EMAIL_1].'
const said = `Write to ${mail}.`
const answer = `I wrote to ${mail}.`

const partsOf = async (url: string, options = {}) => {
  const { messages } = (await (await ask(`${url}/sessions/a/messages`, options)).json()) as { messages: unknown }
  return messages as {
    id: string
    role: string
    parts: { type: string; text?: string; id?: string; data?: object }[]
  }[]
}
const textsOf = async (url: string, options = {}) =>
  (await partsOf(url, options)).flatMap(({ parts }) => parts.flatMap(({ text }) => text ?? []))

/** Of the events of a stream. */
const aguiText = (stream: string) =>
  [...stream.matchAll(/^data: (.*TEXT_MESSAGE_CONTENT.*)$/gm)].map(([, data = '']) => JSON.parse(data).delta).join('')

describe.each(kinds)('what a reader is shown of runs %s', (_, listen) => {
  const guarded = (options = {}) => listen(agentOf([echo]).use(pii()), options)
  const run = (url: string, more = {}) => ask(`${url}/sessions/a/runs`, { body: { input: said }, ...more })

  test('the JSON answer has the values of its stream', async () => {
    const [asked, streamed] = [await guarded(), await guarded()]
    expect(await (await run(asked.url)).json()).toMatchObject({ text: answer })
    expect(textIn(await allOf(await run(streamed.url, { headers: asStream })))).toBe(answer)
  })

  test('so has the history, for its owner alone', async () => {
    const { url } = await guarded({ canRead: () => true })
    await run(url)
    expect(await textsOf(url)).toEqual([said, answer])
    const others = await (await ask(`${url}/sessions/a/messages?owner=ann`, { as: 'acme/bob' })).text()
    expect(others).toContain('[EMAIL_1]')
    expect(others).not.toContain(mail)
  })

  test('so has the answer that a repeated request gets', async () => {
    const { url } = await guarded()
    const again = { headers: { 'idempotency-key': 'k1' } }
    for (let n = 0; n < 2; n++) expect(await (await run(url, again)).json()).toMatchObject({ text: answer })
  })

  test('so have the answers of other protocols, also of one that is read later', async () => {
    const { url } = await guarded({ openai: true, agui: true })
    const asked = await ask(`${url}/v1/responses`, { body: { model: 'agent', input: said } })
    const { id, output } = (await asked.json()) as { id: string; output: object }
    expect(JSON.stringify(output)).toContain(answer)
    expect(await (await ask(`${url}/v1/responses/${id}`)).text()).toContain(answer)
    const [completion, agui] = [await guarded({ openai: true }), await guarded({ agui: true })]
    const messages = [{ id: 'm', role: 'user', content: said }]
    const complete = ask(`${completion.url}/v1/chat/completions`, { body: { model: 'agent', messages } })
    expect(await (await complete).text()).toContain(answer)
    const told = ask(`${agui.url}/agui`, { body: { threadId: 'a', runId: 'r', messages } })
    expect(aguiText(await (await told).text())).toBe(answer)
  })

  test('where the vault does not answer, the history is shown as it is stored, and the log says so', async () => {
    const warned: string[] = []
    let isDown = false
    const values: Record<string, Record<string, string>> = {}
    const vault = {
      load: async (key: string) => (isDown ? Promise.reject(new Error('The vault is down.')) : values[key]),
      save: async (key: string, all: Record<string, string>) => void (values[key] = all),
    }
    const logger = { warn: (message: string) => warned.push(message), error() {} }
    const { url } = await listen(agentOf([echo]).use(pii({ vault })), { logger })
    await run(url)
    isDown = true
    expect(await textsOf(url)).toEqual(['Write to [EMAIL_1].', 'I wrote to [EMAIL_1].'])
    expect(warned.join()).toContain('The vault is down.')
  })
})

describe.each(kinds)('a message that was sent while the answer of a run was written, of runs %s', (_, listen) => {
  async function steered(of: Listen) {
    const gate = gated()
    const { url } = await of(new Agent({ version: '1', model: gate.model }).use(pii()), { uiStream: 7 })
    const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    gate.text('One. ')
    const stream = await asked
    await ask(`${url}/sessions/a/steer`, { body: { message: said, id: 's1' } })
    gate.end()
    await allOf(stream)
    return url
  }

  test('stands in that answer, where it was heard, with its words', async () => {
    const [, told, ...more] = await partsOf(await steered(listen))
    expect(more).toEqual([])
    expect(told?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'data-steer', 'step-start', 'text'])
    expect(told?.parts[2]).toEqual({ type: 'data-steer', id: 's1', data: { delivered: true, text: said } })
  })

  test('and a page that follows the stream again gets the same message once', async () => {
    const url = await steered(listen)
    const [, told] = await partsOf(url)
    const chunks = (await allOf(await ask(`${url}/chat/a/stream`)))
      .filter(({ data }) => data.startsWith('{'))
      .map(({ data }) => JSON.parse(data))
    expect(chunks[0]).toEqual({ type: 'start', messageId: told?.id })
    expect(chunks.find(({ type }) => type === 'data-steer')).toEqual(told?.parts[2])
  })
})

test('a renamed agent shows its owners what they wrote before', async () => {
  const store = sqlite(fileOf(), { encrypt: mirrored })
  onTestFinished(() => store.close())
  const served = (name: string, formerNames: string[] = []) =>
    listen(kept(agentOf([echo], { name, formerNames }).use(pii({ vault: store.vault })), store.sessions).agent, {
      sessions: store.sessions,
    })
  const before = await served('support')
  await ask(`${before.url}/sessions/a/runs`, { body: { input: said } })
  const after = await served('desk', ['support'])
  expect(await textsOf(after.url)).toEqual([said, answer])
  expect(await (await ask(`${after.url}/sessions/a/runs`, { body: { input: 'Again.' } })).json()).toMatchObject({
    text: answer,
  })
})
