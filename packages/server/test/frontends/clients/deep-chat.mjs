import 'deep-chat'

/** The web component, in a page. */
export default {
  async open({ url }) {
    const chat = document.createElement('deep-chat')
    chat.directConnection = { openAI: { key: 'acme/ann', chat: { model: 'support' } } }
    chat.connect = { url: `${url}/v1/responses`, stream: true }
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
