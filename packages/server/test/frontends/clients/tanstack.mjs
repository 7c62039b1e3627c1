import { ChatClient, fetchServerSentEvents } from '@tanstack/ai-client'

export default {
  async open({ url, id, headers }) {
    const chat = new ChatClient({ threadId: id, connection: fetchServerSentEvents(`${url}/agui`, { headers }) })
    const parts = () => chat.getMessages().flatMap(({ parts }) => parts)
    const textOf = ({ parts }) => parts.map(({ type, content }) => (type === 'text' ? content : '')).join('')
    return {
      say: (text) => chat.sendMessage(text),
      texts: () => chat.getMessages().map(textOf),
      outputs: () => parts().flatMap(({ type, content }) => (type === 'tool-result' ? [content] : [])),
      waits: () => chat.getInterrupts().length > 0,
      approve() {
        const answer = { status: 'resolved', payload: { approved: true } }
        return chat.resumeInterruptsUnsafe(chat.getInterrupts().map(({ id }) => ({ interruptId: id, ...answer })))
      },
      edit(text) {
        const last = chat.getMessages().findLastIndex(({ role }) => role === 'user')
        chat.setMessagesManually(chat.getMessages().slice(0, last))
        return chat.sendMessage(text)
      },
      again: () => chat.reload(),
    }
  },
}
