import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'

/** A page that sends its whole history with each request. */
export const langchain = (settings) => ({
  async open({ url }) {
    const model = new ChatOpenAI({
      model: 'support',
      apiKey: 'acme/ann',
      maxRetries: 0,
      configuration: { baseURL: `${url}/v1` },
      ...settings,
    })
    const messages = []
    const answer = async () => {
      let whole
      for await (const chunk of await model.stream(messages)) whole = whole === undefined ? chunk : whole.concat(chunk)
      messages.push(new AIMessage(whole.text))
    }
    const say = (text) => {
      messages.push(new HumanMessage(text))
      return answer()
    }
    return {
      say,
      texts: () => messages.map(({ text }) => text),
      edit(text) {
        messages.splice(-2)
        return say(text)
      },
      again() {
        messages.pop()
        return answer()
      },
    }
  },
})

export default langchain({ useResponsesApi: false })
