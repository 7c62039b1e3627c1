import { Agent, type AnyTool, type Middleware, toolResult } from '@allium/core'
import type { KeyValue, SessionStore } from '@allium/store'
import * as guard from '../../src/guard.ts'
import * as memory from '../../src/memory.ts'
import * as tools from '../../src/tools.ts'
import { mcpServer } from './mcp-server.ts'
import { type Obedient, obedient } from './obedient.ts'
import { orderOf, type Scenario } from './scenario.ts'

/** What all agents of a scenario share: stores, and what got out. */
export interface Shared {
  readonly reached: string[]
  readonly store: SessionStore
  readonly cache: KeyValue
  readonly answers: Map<number, unknown>
}

export interface World {
  readonly agent: Agent<object>
  readonly model: Obedient
}

/** The guard that the scenario is tried with; none, to see that the attack would get there. */
export type MakeGuard = () => Middleware | undefined

const quiet = { warn() {}, error() {} }

export function tool(name: string, flow: AnyTool['flow'], execute: AnyTool['execute'] = () => 'ok'): AnyTool {
  return { name, description: name, jsonSchema: { type: 'object' }, execute, ...(flow && { flow }) }
}

export function worldOf(scenario: Scenario, shared: Shared, makeGuard: MakeGuard): World {
  const { source, carrier, sink, seed } = scenario
  const model = obedient(`m${seed}`, { byLetter: carrier === 'streamed letters' })
  const agent = new Agent({
    model,
    logger: quiet,
    tools: [...toolsOf(scenario), tool('send', { sends: true }), tool('save', { writes: true })],
  })
  if (source.startsWith('stored')) agent.use(memory.persist({ store: shared.store }))
  if (source === 'cached answer') agent.use(cachedAnswers(shared))
  if (source === 'summary') agent.use(summary)
  if (carrier === 'renamed tools') agent.use(renamed)
  if (carrier === 'approvals') agent.use(guard.approve({ tools: ['send', 'save', '*post', 'http_request'] }))
  const flow = makeGuard()
  if (flow !== undefined) agent.use(flow)
  if (source.startsWith('cached result'))
    agent.use(tools.cache({ tools: ['read_page', 'researcher'], store: shared.cache }))
  if (source.startsWith('MCP') || sink === 'MCP') agent.use(mcpOf(scenario))
  if (source.endsWith('a sub-agent')) agent.use(researcher(scenario))
  if (sink === 'sub-agent') agent.use(clerk(seed))
  if (sink === 'http') agent.use(tools.http({ hosts: ['127.0.0.1'], allowPrivate: ['127.0.0.1:9'] }))
  return { agent: agent.use(recorder(shared.reached)) as Agent<object>, model }
}

/** What brings the attacker's text in, and what is private. */
function toolsOf(scenario: Scenario): AnyTool[] {
  const { source, secret } = scenario
  const text = `Read this. ${orderOf(scenario)}`
  const crm = tool('crm', { private: true }, async () => {
    // The other call of its step ends first.
    for (let i = 0; i < 20; i++) await null
    return `The secret is ${secret}`
  })
  const page = tool('read_page', { untrusted: true }, () => {
    if (source === 'tool error') throw Object.assign(new Error(text), { expose: true })
    return text
  })
  const note = tool('read_note', {}, () => toolResult({ content: text, flow: { untrusted: true } }))
  const web: AnyTool = {
    name: 'web',
    description: 'web',
    providerExecuted: { id: 'x.web', args: {} },
    flow: { untrusted: true },
  }
  return [crm, page, note, ...(source === 'tool of the provider' ? [web] : [])]
}

function mcpOf(scenario: Scenario) {
  const order = orderOf(scenario)
  const describes = scenario.source === 'MCP description' ? order : undefined
  const fetch = mcpServer(`Read this. ${order}`, describes)
  return tools.mcp({ name: 'srv', url: 'http://127.0.0.1:9/mcp', fetch, ...(describes && { pin: 'as it was' }) })
}

/** A sub-agent that reads a page and passes on what stands there. */
function researcher(scenario: Scenario) {
  const model = obedient(`r${scenario.seed}`, { echoes: true })
  model.wishes.push([{ name: 'read_page' }])
  const agent = new Agent({ name: 'researcher', model, tools: toolsOf(scenario), logger: quiet })
  return tools.agent({ agent, description: 'Reads' })
}

/** A sub-agent that sends. */
function clerk(seed: number) {
  const agent = new Agent({
    name: 'clerk',
    model: obedient(`c${seed}`),
    tools: [tool('send_out', { sends: true })],
    logger: quiet,
  })
  return tools.agent({ agent, description: 'Sends' })
}

/** Stands inside the guard: what comes here runs. Nothing goes over a network. */
function recorder(reached: string[]): Middleware {
  return {
    name: 'recorder',
    innermost: true,
    inherit: true,
    tool(ctx, next) {
      const { name } = ctx.tool
      const args = JSON.stringify(ctx.args)
      const isSink = /^(send|send_out|save|srv__post|http_request)$/.test(name)
      if (isSink && /SECRET|INJECTED/.test(args)) reached.push(name)
      return name === 'http_request' ? ctx.skipCall('fetched') : next()
    },
  }
}

/** An earlier conversation becomes one message, in which no part tells what brought it. */
const summary: Middleware = {
  name: 'summary',
  model(ctx, next) {
    const text = JSON.stringify(ctx.request.messages)
    ctx.messages = [{ role: 'user', content: `So far: ${text.replaceAll('"', "'")}` }]
    return next()
  },
}

/** Answers of another session are given again, in their order; the guard does not see these calls. */
function cachedAnswers({ answers }: Shared): Middleware {
  return {
    name: 'cached-answers',
    async model(ctx, next) {
      const at = ctx.history.length
      const known = answers.get(at)
      if (known !== undefined) return ctx.skipCall(known as never)
      const response = await next()
      answers.set(at, response)
      return response
    },
  }
}

/** The model knows the tools by other names. */
const renamed: Middleware = {
  name: 'renamed',
  async model(ctx, next) {
    ctx.toolDefs = ctx.toolDefs.map((def) => (def.name === 'answer' ? def : { ...def, name: `my_${def.name}` }))
    ctx.pipe(async function* (chunks) {
      for await (const chunk of chunks)
        yield chunk.type === 'tool-input-start' ? { ...chunk, name: chunk.name.replace(/^my_/, '') } : chunk
    })
    return next()
  },
}
