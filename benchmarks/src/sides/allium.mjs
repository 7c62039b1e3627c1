import { Agent } from '@allium/core'
import { counter, instructions } from './mock.mjs'

const events = ['turn:start', 'turn:end', 'model:start', 'model:end', 'tool:start', 'tool:end']

/** What the observers saw. */
export const seen = Object.fromEntries(events.map((name) => [name, 0]))

/** An agent with everything on: ids, abort, a state key with a reducer that a turn layer writes, six listeners. */
export async function everythingOn({ model, tools = [], layers = [] }) {
  const agent = new Agent({ model, instructions, tools }).use(counter).use(layers)
  for (const name of events)
    agent.on(name, () => {
      seen[name]++
    })
  await agent.init()
  return agent
}

/** An agent with these layers and nothing else. */
export async function bare({ model, tools = [], layers = [] }) {
  const agent = new Agent({ model, tools }).use(layers)
  await agent.init()
  return agent
}
