import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { durable } from '@allium/durable'
import { sqlite } from '@allium/store-sqlite'
import { Agent, type ToolContext, type ToolResult } from 'allium'
import { isReplaying } from 'allium/context'
import { book, slowModel } from './journey.ts'

export const principal = { tenantId: 'acme', userId: 'dana' }

/** `JOURNEY_VERSION=2` is the next deploy: it adds a layer. */
export const version = process.env.JOURNEY_VERSION ?? '1'

async function timed(ctx: ToolContext, next: () => Promise<ToolResult>): Promise<ToolResult> {
  const startedAt = ctx.clock.now()
  const result = await next()
  if (!isReplaying(ctx)) ctx.emit({ type: 'journey:timing', tool: ctx.tool.name, ms: ctx.clock.now() - startedAt })
  return result
}

/** Creates the agent and its durable runs. The runs and the bookings are stored in files. */
export function open() {
  const file = process.env.DURABLE_FILE ?? '.cache/journey.db'
  mkdirSync(dirname(file), { recursive: true })
  const store = sqlite(file)
  const booked = (what: string) => appendFileSync(`${file}.log`, `${what}\n`)
  const agent = new Agent({ name: 'journey', version, model: slowModel(), store, tools: [book(booked)] })
  if (version !== '1') agent.use({ name: 'journey:timing', tool: timed })
  return { store, agent, runs: durable(agent, { store, lease: 2000 }) }
}
