import { defineTool } from '@allium/core'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { type Ask, agentOf, allOf, ask, gated, kept, kinds, type Listen, listen, silent } from './kit.ts'

interface Sent {
  id: string
  text: string
  /** The ids of the user messages that the client has before it. */
  before?: string[]
  /** Answers the message again. */
  again?: boolean
}

type Send = (url: string, sent: Sent, options?: Ask) => Promise<Response>

let attempts = 0
const protocols: Record<string, Send> = {
  '/chat': (url, { id, text, before = [], again = false }, options) => {
    const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
    const trigger = again ? 'regenerate-message' : 'submit-message'
    const messages = [...before.map((id) => user(id, '')), user(id, text)]
    return ask(`${url}/chat`, { body: { id: 'a', trigger, messageId: id, messages }, ...options })
  },
  '/agui': (url, { id, text, before = [], again = false }, options) => {
    const user = (id: string, content: string) => ({ id, role: 'user', content })
    const messages = [...before.map((id) => user(id, '')), user(id, text)]
    const runId = again ? `run-${++attempts}` : 'run'
    return ask(`${url}/agui`, { body: { threadId: 'a', runId, messages }, ...options })
  },
  'the native routes': (url, { id, text, again = false }, options) => {
    const body = again ? { messageId: id } : { messageId: id, input: text }
    return ask(`${url}/sessions/a/runs`, { body, headers: { accept: 'text/event-stream' }, ...options })
  },
}

const all = { uiStream: 7, agui: true, openai: false } as const

async function textsOf(url: string, id = 'a', as?: string): Promise<string[]> {
  const response = await ask(`${url}/sessions/${id}/messages`, as === undefined ? {} : { as })
  const { messages } = (await response.json()) as { messages: { parts: { text?: string }[] }[] }
  return messages.map(({ parts }) => parts.map(({ text }) => text ?? '').join(''))
}

async function sessionsOf(url: string): Promise<string[]> {
  const { sessions } = (await (await ask(`${url}/sessions`)).json()) as { sessions: { id: string }[] }
  return sessions.map(({ id }) => id).filter((id) => id !== 'a')
}

const said = (requests: readonly { messages: readonly { content: unknown }[] }[]) =>
  requests
    .at(-1)
    ?.messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join(' | ')

describe.each(Object.entries(protocols))('on %s', (_, send) => {
  describe.each(kinds)('with runs %s', (_, start) => {
    async function conversation(answers: string[]) {
      const model = scriptedModel(answers)
      const { url } = await start(agentOf([], { model }), all)
      const post = async (sent: Sent, options?: Ask) => {
        const response = await send(url, sent, options)
        await response.text()
        return response.status
      }
      return { url, model, post }
    }

    test('an edited message takes the place of the old one, and of everything after it', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'secret' })
      await post({ id: 'u2', text: 'more', before: ['u1'] })
      expect(await post({ id: 'u1', text: 'edited' })).toBe(200)
      expect(said(model.requests)).not.toMatch(/secret|more/)
      expect(await textsOf(url)).toEqual(['edited', 'Three.'])
    })

    test('the former conversation stays as another session, and is deleted with the edited one', async () => {
      const { url, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'first' })
      await post({ id: 'u1', text: 'second' })
      await post({ id: 'u1', text: 'third' })
      const former = await sessionsOf(url)
      const texts = await Promise.all(former.map((id) => textsOf(url, id)))
      expect(texts.sort()).toEqual([
        ['first', 'One.'],
        ['second', 'Two.'],
      ])
      await ask(`${url}/sessions/a`, { method: 'DELETE' })
      expect(await sessionsOf(url)).toEqual([])
    })

    test('a message is answered again with the conversation before it', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'first' })
      await post({ id: 'u2', text: 'again', before: ['u1'] })
      expect(await post({ id: 'u2', text: 'again', before: ['u1'], again: true })).toBe(200)
      expect(await textsOf(url)).toEqual(['first', 'One.', 'again', 'Three.'])
      expect(said(model.requests)).not.toContain('Two.')
    })

    test('a message that is posted twice is stored once, and gets the same answer', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.'])
      await post({ id: 'u1', text: 'first' })
      const repeated = await (await send(url, { id: 'u1', text: 'first' })).text()
      expect(repeated).toContain('One.')
      expect([model.requests.length, await textsOf(url)]).toEqual([1, ['first', 'One.']])
    })

    test('an edit that is sent twice happens once', async () => {
      const { url, model, post } = await conversation(['One.', 'Two.', 'Three.'])
      await post({ id: 'u1', text: 'first' })
      await post({ id: 'u1', text: 'edited' })
      await post({ id: 'u1', text: 'edited' })
      expect([model.requests.length, (await sessionsOf(url)).length]).toEqual([2, 1])
    })
  })
})
