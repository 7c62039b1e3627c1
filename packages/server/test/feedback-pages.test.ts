import { Chat as Chat6 } from '@ai-sdk/react'
import { memoryStore } from '@allium/store'
import * as ai6 from 'ai'
import { Chat as Chat7 } from 'ai-react7'
import * as ai7 from 'ai7'
import { expect, it } from 'vitest'
import { feedback } from '../src/feedback.ts'
import { agentOf, kept, listen } from './kit.ts'

const headers = { authorization: 'acme/ann', 'content-type': 'application/json' }

it.each([6, 7] as const)(
  'a page of the AI SDK %i gives feedback by the id of a message, also after a reload',
  async (version) => {
    const { DefaultChatTransport } = (version === 6 ? ai6 : ai7) as typeof ai6
    const Chat = (version === 6 ? Chat6 : Chat7) as typeof Chat6
    const { agent, sessions } = kept(agentOf(['One.', 'Two.']), memoryStore())
    const store = (sessions as ReturnType<typeof memoryStore>).feedback
    const { url } = await listen(agent, { uiStream: version, sessions, feedback: feedback({ store }) })
    const transport = new DefaultChatTransport({ api: `${url}/chat`, headers })
    const chat = new Chat({ id: 'chat-1', transport: transport as never })
    const rate = async (id = '', score = 'up') => {
      const path = `/sessions/chat-1/runs/${encodeURIComponent(id)}/feedback`
      return (await fetch(url + path, { method: 'PUT', headers, body: JSON.stringify({ score }) })).status
    }
    await chat.sendMessage({ text: 'Hi' })
    expect(await rate(chat.messages.at(-1)?.id)).toBe(200)
    await chat.sendMessage({ text: 'And?' })
    const { messages } = (await (await fetch(`${url}/sessions/chat-1/messages`, { headers })).json()) as typeof chat
    for (const { id } of messages.filter(({ role }) => role === 'assistant')) expect(await rate(id, 'down')).toBe(200)
    const { items } = await store.list({ agent: agent.name, limit: 10 })
    expect(items.map(({ score }) => score)).toEqual([0, 0])
  },
)
