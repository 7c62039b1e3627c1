import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'

/** A chat page of the AI SDK. The pages of React, Vue and Svelte have the same methods. */
export const aiSdk = (Chat) => ({
  async open({ url, id, headers }) {
    const { messages } = await (await fetch(`${url}/sessions/${id}/messages`, { headers })).json()
    const chat = new Chat({
      id,
      messages: messages ?? [],
      transport: new DefaultChatTransport({ api: `${url}/chat`, headers }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    })
    const parts = () => chat.messages.flatMap(({ parts }) => parts)
    return {
      say: (text) => chat.sendMessage({ text }),
      texts: () => chat.messages.map(({ parts }) => parts.map(({ text = '' }) => text).join('')),
      outputs: () => parts().flatMap(({ state, output }) => (state === 'output-available' ? [output] : [])),
      waits: () => parts().some(({ state }) => state === 'approval-requested'),
      approve() {
        const { approval } = parts().find(({ state }) => state === 'approval-requested')
        return chat.addToolApprovalResponse({ id: approval.id, approved: true })
      },
      edit(text) {
        const { id: messageId } = chat.messages.findLast(({ role }) => role === 'user')
        return chat.sendMessage({ text, messageId })
      },
      again: () => chat.regenerate(),
      follow: () => chat.resumeStream(),
    }
  },
})
