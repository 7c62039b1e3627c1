import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { durable } from '@allium/durable'
import { sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import { book, slowModel } from './journey.ts'

export const principal = { tenantId: 'acme', userId: 'dana' }

/** The agent, and its runs in the file that outlives the process. What is booked is noted beside it. */
export function open() {
  const file = process.env.DURABLE_FILE ?? '.cache/journey.db'
  mkdirSync(dirname(file), { recursive: true })
  const store = sqlite(file)
  const booked = (what: string) => appendFileSync(`${file}.log`, `${what}\n`)
  const agent = new Agent({ name: 'journey', version: '1', model: slowModel(), store, tools: [book(booked)] })
  return { store, agent, runs: durable(agent, { store, lease: 2000 }) }
}
