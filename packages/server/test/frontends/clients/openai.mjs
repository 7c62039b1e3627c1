import OpenAI from 'openai'

const model = 'support'

/** A page whose history is a chain of stored responses. */
export default {
  async open({ url, headers, from }) {
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'acme/ann', maxRetries: 0 })
    const responses = from ?? []
    const say = async (input) => {
      const previous_response_id = responses.at(-1)?.id
      const stream = openai.responses.stream({ model, input, ...(previous_response_id && { previous_response_id }) })
      responses.push({ ...(await stream.finalResponse()), input })
    }
    return {
      say,
      texts: () => responses.flatMap(({ input, output_text }) => [input, output_text]),
      waits: () => responses.at(-1).incomplete_details?.reason === 'approval',
      async approve() {
        const { approvals } = await (await fetch(`${url}/approvals`, { headers })).json()
        const { session_id: id } = responses.at(-1).metadata
        const decisions = Object.fromEntries(
          approvals
            .filter(({ sessionId }) => sessionId === id)
            .map(({ callId, token }) => [callId, { approve: true, token }]),
        )
        const sent = { ...headers, 'content-type': 'application/json' }
        const request = { method: 'POST', headers: sent, body: JSON.stringify({ decisions }) }
        const { text } = await (await fetch(`${url}/sessions/${id}/decisions`, request)).json()
        responses.push({ input: '', output_text: text })
      },
      async edit(text) {
        responses.pop()
        await say(text)
      },
      async again() {
        await say(responses.pop().input)
      },
      stored: async () => (await openai.responses.retrieve(responses.at(-1).id)).output_text,
    }
  },
}
