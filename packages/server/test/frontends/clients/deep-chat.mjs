import 'deep-chat'

/** The web component, in a page. */
export default {
  async open({ url, id }) {
    const chat = document.createElement('deep-chat')
    chat.directConnection = { openAI: { key: 'acme/ann', chat: { model: 'support' } } }
    chat.connect = { url: `${url}/v1/responses`, stream: true, headers: { 'x-end': id } }
    // The text is on the page once the promises behind this event are resolved.
    chat.responseInterceptor = (event) => {
      if (event.type === 'response.output_text.delta') setTimeout(fetch, 0, `${url}/go-on/${id}`, { method: 'POST' })
      return event
    }
    const shown = new Promise((resolve) => {
      chat.onComponentRender = resolve
    })
    document.body.append(chat)
    await shown
    const texts = []
    return {
      texts: () => texts,
      async say(text) {
        const answered = new Promise((resolve) => {
          chat.onMessage = ({ message }) => {
            texts.push(message.text)
            if (message.role === 'ai') resolve()
          }
        })
        chat.submitUserMessage({ text })
        await answered
      },
    }
  },
}
