import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { columns, short } from '../table.mjs'
import { ask, converse } from './conversations.mjs'
import { corpus } from './corpus.mjs'

/** Milliseconds of CPU. */
const limits = { question: 20, write: 0.5 }

const people = 10
const large = { sessions: 300, turns: 10, facts: 300 }
const small = { sessions: 20, turns: 10, facts: 20 }

/**
 * Measures `memory.recall()` on conversations of its own in every store: how many of the messages that answer a question are among the first
 * 10 and 20 that are found, and the CPU of a question and of a written message. One user has 6,000 messages, nine others 400 each.
 *
 * Throws if the stores find different messages, or messages of another user.
 *
 * @param {(text: string) => void} tell
 * @param {{ open(name: string): object, cpu(): number }} [postgres] with the CPU time of the database in milliseconds
 */
export async function recallReport(tell, postgres) {
  const folder = mkdtempSync(join(tmpdir(), 'recall-'))
  const stores = {
    memory: () => memoryStore(),
    SQLite: (name) => sqlite(join(folder, `${name}.db`), { synchronous: 'normal' }),
    ...(postgres && { Postgres: postgres.open }),
  }
  try {
    const found = {}
    for (const [name, open] of Object.entries(stores))
      found[name] = await measured(open, {
        tell: (text) => tell(`${name}: ${text}`),
        beside: name === 'Postgres' ? postgres.cpu : () => 0,
      })
    compare(found)
    return report(found)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function measured(open, { tell, beside }) {
  const users = Array.from({ length: people }, (_, i) => ({
    principal: { tenantId: 'acme', userId: `user ${i}` },
    ...corpus({ ...(i === 0 ? large : small), seed: i + 1 }),
  }))
  const [first] = users
  const [store, without] = [open('with'), open('without')]
  const write = async (to, sessions, remembers) => {
    const began = beside()
    const cpu = await converse(to, { ...first, sessions, remembers })
    const messages = sessions.reduce((sum, { turns }) => sum + 2 * turns.length, 0)
    return { cpu, beside: (beside() - began) / messages }
  }
  tell('writing')
  for (const user of users.slice(1)) await converse(store, { ...user, remembers: true })
  await write(without, first.sessions.slice(0, 50), false)
  const plain = await write(without, first.sessions.slice(50), false)
  await write(store, first.sessions.slice(0, 50), true)
  const remembering = await write(store, first.sessions.slice(50), true)
  tell('asking')
  const lists = []
  for (const user of users.slice(1)) lists.push((await ask(store, user)).found)
  const began = beside()
  const { found, cpu } = await ask(store, first)
  const question = { cpu, beside: (beside() - began) / first.questions.length }
  for (const one of [store, without]) await one.close?.()
  return {
    lists: [found, ...lists],
    ...{ users, question },
    write: { cpu: remembering.cpu - plain.cpu, beside: remembering.beside - plain.beside },
  }
}

/** All stores must find the same messages, in the same order, and of their user only. */
function compare(found) {
  for (const [name, { lists }] of Object.entries(found))
    for (const [user, list] of lists.entries())
      if (!list.flat().every((place) => place.startsWith(`${user + 1}-`)))
        throw new Error(`${name} finds messages of another user.`)
  const [[firstName, first], ...others] = Object.entries(found)
  for (const [name, { lists }] of others)
    if (JSON.stringify(lists) !== JSON.stringify(first.lists))
      throw new Error(`${name} finds other messages than ${firstName}, or another order.`)
}

function report(found) {
  const heads = ['store', 'found at 10', 'found at 20', 'a question, ms of CPU', 'a message written, ms of CPU']
  const rows = Object.entries(found).map(([name, { lists, users, question, write }]) => [
    name,
    ...[10, 20].map((most) => `${(100 * share(lists, users, most)).toFixed(1)} %`),
    ...[question, write].map(({ cpu, beside }) => short(cpu) + (beside === 0 ? '' : ` + ${short(beside)} of Postgres`)),
  ])
  const limit = ['limit', '', '', short(limits.question), short(limits.write)]
  return columns([heads, ...rows, limit])
}

/** The share of questions whose message is among the first that were found. */
function share(lists, users, most) {
  const hits = users.flatMap(({ questions }, user) =>
    questions.map(({ sessionId, index }, i) => lists[user][i].slice(0, most).includes(`${sessionId}#${index}`)),
  )
  return hits.filter(Boolean).length / hits.length
}
