import { AssistantRuntimeProvider } from '@assistant-ui/react'
import { AssistantChatTransport, useChatRuntime } from '@assistant-ui/react-ai-sdk'
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'

/** A page with the runtime of assistant-ui. */
export default {
  async open({ url, headers }) {
    let runtime
    function Page() {
      runtime = useChatRuntime({
        transport: new AssistantChatTransport({ api: `${url}/chat`, headers }),
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      })
      return createElement(AssistantRuntimeProvider, { runtime })
    }
    createRoot(document.body.appendChild(document.createElement('div'))).render(createElement(Page))
    await until(() => runtime !== undefined)
    const thread = () => runtime.thread
    const messages = () => thread().getState().messages
    const parts = () => messages().flatMap(({ content }) => content)
    const idle = () => until(() => !thread().getState().isRunning)
    const answered = async (start) => {
      const before = JSON.stringify(messages())
      start()
      await until(() => JSON.stringify(messages()) !== before)
      await idle()
    }
    const last = (role) => messages().findLastIndex((message) => message.role === role)
    return {
      say: (text) => answered(() => thread().append(text)),
      texts: () =>
        messages().map(({ content }) => content.map(({ type, text }) => (type === 'text' ? text : '')).join('')),
      outputs: () =>
        parts().flatMap(({ type, result }) => (type === 'tool-call' && result !== undefined ? [result] : [])),
      waits: () => parts().some(({ approval }) => approval !== undefined && approval.approved === undefined),
      approve: () =>
        answered(() => {
          const index = last('assistant')
          const part = messages()[index].content.findIndex(({ approval }) => approval !== undefined)
          return thread().getMessageByIndex(index).getMessagePartByIndex(part).respondToToolApproval({ approved: true })
        }),
      edit: (text) =>
        answered(() => {
          const { composer } = thread().getMessageByIndex(last('user'))
          composer.beginEdit()
          composer.setText(text)
          composer.send()
        }),
      again: () => answered(() => thread().getMessageByIndex(last('assistant')).reload()),
    }
  },
}

/** Waits until a condition of the page holds. */
async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}
