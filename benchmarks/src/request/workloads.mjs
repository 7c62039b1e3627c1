import { chat, connections } from './client.mjs'
import { native } from './protocols.mjs'

const clients = 16
const sessions = 200

/**
 * What the clients send. `sessions` is their number, and `before` the turns that each has before the measurement.
 *
 * @type {Record<string, { title: string, requests: number, sessions: number, before: number }>}
 */
export const workloads = {
  W1: { title: 'one chunk', requests: 200, sessions, before: 0 },
  W2: { title: '200 chunks', requests: 100, sessions, before: 0 },
  W3: { title: 'model → tool → model', requests: 200, sessions, before: 0 },
  W4: { title: 'turns 50 to 70 of a session', requests: 64, sessions: 16, before: 49 },
  W5: { title: '200 chunks, 2 ms apart', requests: 96, sessions, before: 0 },
}

/**
 * Sends so many requests, from 16 clients at the same time. Each client has its own sessions, so a session never has two requests.
 *
 * @returns {Promise<Awaited<ReturnType<typeof chat>>[]>} in the order of the requests
 */
export async function drive(port, prefix, { requests, sessions, clients: count = clients, protocol = native }) {
  const answers = []
  const agent = connections()
  const client = async (own) => {
    for (let n = 0, i = own; i < requests; n++, i = own + n * count) {
      const session = `${prefix}-${i % sessions}`
      const question = `${prefix.slice(0, 2)} question ${letters(i)}: what fits best?`
      answers[i] = await chat(port, session, question, { agent, protocol })
    }
  }
  await Promise.all(Array.from({ length: count }, (_, own) => client(own)))
  agent.destroy()
  return answers
}

/** Letters in place of digits, so that no guard finds a number. */
const letters = (n) => String(n).replace(/\d/g, (digit) => 'abcdefghij'[digit])
