import { server } from '@allium/server'
import { Agent } from 'allium'

// As the recipe has it: the agent and its server stand at the top of the module.
const scripted = {
  id: 'scripted',
  async *stream() {
    yield { type: 'text-delta', delta: 'Hello from ' }
    yield { type: 'text-delta', delta: 'a Worker.' }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 5 } }
  },
}
const agent = new Agent({ model: scripted })
const app = server(agent, {
  principal: (request) => ({ tenantId: 'acme', userId: request.headers.get('authorization') }),
  onDisconnect: 'abort',
  uiStream: 7,
  openai: true,
  agui: true,
})

export default { fetch: app.fetch }
