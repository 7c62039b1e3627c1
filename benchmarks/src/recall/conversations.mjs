import * as memory from '@allium/memory'
import { recall } from '@allium/memory/recall'
import { Agent } from 'allium'

const mostRecalled = 20

/** An agent whose model says what a script holds, with the store's sessions. @param {object} store @param {object[]} layers */
function agentOf(store, layers, steps, clock) {
  const model = {
    id: 'script',
    async *stream() {
      const step = steps.shift()
      if (step.text === undefined) {
        yield { type: 'tool-input-start', callId: 'call', name: 'recall' }
        yield { type: 'tool-input-delta', callId: 'call', delta: JSON.stringify({ question: step.question }) }
        yield { type: 'tool-input-end', callId: 'call' }
      } else yield { type: 'text-delta', delta: step.text }
      yield { type: 'finish', reason: step.text === undefined ? 'tool-calls' : 'stop', usage: {} }
    },
  }
  return new Agent({ name: 'friend', model, clock }).use([memory.persist({ store: sessionsOf(store) }), ...layers])
}

/**
 * Runs conversations, and returns the milliseconds of CPU per message.
 *
 * @param {object} store
 * @param {{ principal: object, sessions: import('./corpus.mjs').Conversation[], remembers: boolean }} what
 */
export async function converse(store, { principal, sessions, remembers }) {
  const steps = []
  const layers = remembers ? [recall({ store: store.passages })] : []
  const agent = agentOf(store, layers, steps)
  let messages = 0
  const began = process.cpuUsage()
  for (const { id, turns } of sessions) {
    const session = agent.session({ id, principal })
    for (const { input, answer } of turns) {
      steps.push({ text: answer })
      await session.run(input)
      messages += 2
    }
    await session.close()
  }
  return cpuSince(began) / messages
}

/**
 * Asks questions, each in a session of its own that is deleted afterwards.
 *
 * @returns the places of the recalled messages by question, and the milliseconds of CPU per question: those between the start and the end
 *   of the tool
 */
export async function ask(store, { principal, questions }) {
  const steps = []
  const agent = agentOf(store, [recall({ store: store.passages, limit: mostRecalled, tokens: 100_000 })], steps)
  const found = []
  let [cpu, began] = [0, undefined]
  agent.on('memory:recall', ({ passages }) =>
    found.push(passages.map(({ sessionId, index }) => `${sessionId}#${index}`)),
  )
  agent.on('tool:start', () => void (began = process.cpuUsage()))
  agent.on('tool:end', () => void (cpu += cpuSince(began)))
  for (const [i, { text }] of questions.entries()) {
    steps.push({ question: text }, { text: 'Thanks.' })
    const session = agent.session({ id: `question ${i}`, principal })
    await session.run('?')
    await session.close()
    await sessionsOf(store).delete(session.key)
  }
  return { found, cpu: cpu / questions.length }
}

/** The store in memory is its own store of sessions. */
const sessionsOf = (store) => store.sessions ?? store

function cpuSince(began) {
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}
