import { Chat as Chat6 } from '@ai-sdk/react'
import { documents } from '@allium/memory/documents'
import { memoryStore } from '@allium/store'
import { search } from '@allium/tools/search'
import * as ai6 from 'ai'
import { Chat as Chat7 } from 'ai-react7'
import * as ai7 from 'ai7'
import { expect, test } from 'vitest'
import { agentOf, listen } from './kit.ts'

const asks = { toolCalls: [{ name: 'search', args: { question: 'damaged goods' } }] }

async function agentWithHandbook() {
  const store = memoryStore()
  const handbook = documents({ store: { sessions: store, passages: store.passages }, name: 'handbook' })
  const linked = { tenant: 'acme', format: 'markdown', url: 'https://acme.test/returns' } as const
  await handbook.put('returns', '# Returns\n\n## Damaged goods\n\nPhotograph the damage.', linked)
  await handbook.put('notes', 'Goods are damaged most often in May.', {
    tenant: 'acme',
    owner: 'ann',
    title: 'My notes',
  })
  await handbook.put('other', 'Damaged goods of Globex.', { tenant: 'globex', title: 'Not yours' })
  return agentOf([asks, 'Photograph it.']).use(search({ in: [handbook] }))
}

test.each([6, 7] as const)(
  'useChat of the AI SDK %i shows the documents that an answer is based on',
  async (version) => {
    const { DefaultChatTransport } = (version === 6 ? ai6 : ai7) as typeof ai6
    const Chat = (version === 6 ? Chat6 : Chat7) as typeof Chat6
    const { url } = await listen(await agentWithHandbook(), { uiStream: version })
    const transport = new DefaultChatTransport({ api: `${url}/chat`, headers: { authorization: 'acme/ann' } })
    const chat = new Chat({ id: 'chat-1', transport: transport as never })
    await chat.sendMessage({ text: 'What about damaged goods?' })
    expect(chat.status).toBe('ready')
    const parts = (chat.messages[1]?.parts ?? []).filter(({ type }) => /^(source|text)/.test(type))
    expect(
      parts.map((part) => ('title' in part ? [part.type, part.title] : [part.type, 'text' in part && part.text])),
    ).toEqual([
      ['source-document', 'My notes'],
      ['source-url', 'Returns > Damaged goods'],
      ['text', 'Photograph it.'],
    ])
  },
)
