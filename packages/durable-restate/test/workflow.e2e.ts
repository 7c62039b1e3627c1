import { Agent } from '@allium/core'
import { type WorkflowContext, workflow } from '@allium/durable/workflow'
import { scriptedModel } from '@allium/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../../e2e/free-port.ts'
import { durableRestate } from '../src/index.ts'
import { ownServer, type Server, serveHere } from './server.ts'

let server: Server
beforeAll(async () => {
  server = await ownServer()
})
afterAll(() => server.stop())

const principal = { tenantId: 'acme', userId: 'dana' }
const logger = { debug() {}, info() {}, warn() {}, error() {} }
let names = 0

/** Serves a workflow. A process that `lose()` ends answers Restate no more, and `next()` takes its place with other code. */
async function serve<R>(run: (ctx: WorkflowContext) => Promise<R>) {
  const [name, port] = [`workflow${names++}`, await freePort()]
  const begin = async (code: (ctx: WorkflowContext) => Promise<R>) => {
    const made = workflow({ name: 'w', version: '1', logger, run: code })
    const durable = durableRestate(made, { ingress: server.ingress, name })
    return { made, durable, endpoint: await serveHere([durable.object], port) }
  }
  let process = await begin(run)
  await server.register(port)
  const { made, durable } = process
  return {
    async start(options: { sessionId: string; decisions?: object }) {
      const what = options.decisions === undefined ? { input: made.input(null) } : {}
      return (await durable.start({ principal, ...what, ...options } as never)).run
    },
    end: (id: string) => durable.attach(id, { principal }),
    result: (outcome: Awaited<ReturnType<typeof durable.attach>>) => made.result(outcome),
    lose: () => process.endpoint.close(),
    async next(code: (ctx: WorkflowContext) => Promise<R>) {
      process = await begin(code)
    },
  }
}

/** A step that never ends, because its process is lost in it. */
function interruption() {
  let reach = () => {}
  const reached = new Promise<void>((resolve) => (reach = resolve))
  const wait = () => {
    reach()
    return new Promise(() => {})
  }
  return { reached, wait }
}

it('runs steps, agents and branches, waits for a person, and continues with the decision', async () => {
  const effects: string[] = []
  const writer = new Agent({ name: 'writer', model: scriptedModel(['Dear Dana.']) })
  const refund = await serve(async (ctx) => {
    const amount = await ctx.step('load', () => effects.push('load') * 400)
    const { approved, details } = await ctx.approval('refund', { details: { amount } })
    if (!approved) return 'denied'
    await ctx.sleep(20)
    const [paid, letter] = await ctx.all([
      ctx.step('pay', ({ idempotencyKey }) => effects.push(idempotencyKey.split(':').at(-1) as string)),
      ctx.agent(writer, 'Write.'),
    ])
    return `${paid} ${details.amount} ${letter.text}`
  })
  const { status, pending } = await refund.end(await refund.start({ sessionId: 's' }))
  expect([status, pending.map(({ callId }) => callId)]).toEqual(['suspended', ['refund']])
  const decisions = { refund: { approve: true, token: pending[0]?.token } }
  const outcome = await refund.end(await refund.start({ sessionId: 's', decisions }))
  expect([refund.result(outcome), effects]).toEqual(['2 400 Dear Dana.', ['load', 'pay']])
  await refund.lose()
})

it('continues a lost workflow at the step that was interrupted', async () => {
  const effects: string[] = []
  const code = (interrupted: () => unknown) => async (ctx: WorkflowContext) => {
    const a = await ctx.step('a', () => effects.push('a'))
    const b = await ctx.step('b', () => effects.push('b') && interrupted())
    return [a, b]
  }
  const { reached, wait } = interruption()
  const flow = await serve(code(wait))
  const run = await flow.start({ sessionId: 's' })
  await reached
  await flow.lose()
  await flow.next(code(() => 2))
  expect(flow.result(await flow.end(run))).toEqual([1, 2])
  expect(effects).toEqual(['a', 'b', 'b'])
  await flow.lose()
})

it('stops a workflow whose code requests other steps than were recorded', async () => {
  const effects: string[] = []
  const { reached, wait } = interruption()
  const flow = await serve(async (ctx) => {
    await ctx.step('a', () => effects.push('a'))
    await ctx.step('b', wait)
  })
  const run = await flow.start({ sessionId: 's' })
  await reached
  await flow.lose()
  await flow.next(async (ctx) => void (await ctx.step('other', () => effects.push('other'))))
  await expect(flow.end(run)).rejects.toMatchObject({ code: 'journal.diverged' })
  expect(effects).toEqual(['a'])
  await flow.lose()
})
