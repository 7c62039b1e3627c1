import { HttpAgent } from '@ag-ui/client'

/** A page with a client of AG-UI: a run is started by `run(agent, parameters)`. */
export const agUi = (run) => ({
  async open({ url, id, headers }) {
    const agent = new HttpAgent({ url: `${url}/agui`, threadId: id, headers })
    let interrupts = []
    agent.subscribe({ onRunFinishedEvent: ({ event }) => void (interrupts = event.outcome?.interrupts ?? []) })
    const said = () => agent.messages.filter(({ role, content }) => role !== 'tool' && content)
    const say = (content) => {
      agent.addMessage({ id: crypto.randomUUID(), role: 'user', content })
      return run(agent)
    }
    return {
      say,
      texts: () => said().map(({ content }) => content),
      outputs: () => agent.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
      waits: () => interrupts.length > 0,
      approve() {
        const resume = interrupts.map(({ id: interruptId }) => ({
          interruptId,
          status: 'resolved',
          payload: { approved: true },
        }))
        return run(agent, { resume })
      },
      edit(text) {
        const last = agent.messages.findLastIndex(({ role }) => role === 'user')
        agent.setMessages(agent.messages.slice(0, last))
        return say(text)
      },
      again() {
        agent.setMessages(agent.messages.slice(0, agent.messages.findLastIndex(({ role }) => role === 'user') + 1))
        return run(agent)
      },
    }
  },
})

export default agUi((agent, parameters) => agent.runAgent(parameters))
