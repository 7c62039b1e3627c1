import { type Agent, type ModelRequest, systemClock } from '@allium/core'
import { codeDifferences, shapeOf } from '@allium/store/code-shape'
import { freePort } from '../../../../e2e/free-port.ts'
import { durableRestate } from '../../../durable-restate/src/index.ts'
import { type Server, serveHere } from '../../../durable-restate/test/server.ts'
import { agentOf, type Build, type Effect, isCall } from './builds.ts'
import type { DeployCase } from './cases.ts'
import type { Deployed } from './deploy-case.ts'
import { principal } from './process.ts'

let cases = 0

/** How the new build is deployed: at an address of its own, beside the old one, or in place of it. */
export type Way = 'beside' | 'in place'

/** Runs a case on Restate. The process is lost in the model call or the tool with the number `dieAfter - 1`. */
export async function deployedOnRestate(
  { before, after, dieAfter }: DeployCase,
  server: Server,
  way: Way,
): Promise<Deployed> {
  const wrong: string[] = []
  const name = `deploy-${++cases}`
  const serve = async (build: Build, port: number, hooks: Hooks) => {
    const agent = agentOf(build, { name: 'agent', clock: systemClock, ...hooks })
    const durable = durableRestate(agent, { ingress: server.ingress, name })
    return { durable, endpoint: await serveHere([durable.object], port) }
  }
  const port = await freePort()
  const { lost, recorded, hooks } = losing(dieAfter - 1)
  const first = await serve(before, port, hooks)
  await server.register(port)
  const { run } = await first.durable.start({ principal, sessionId: 'chat', input: 'Go.' })
  const ended = first.durable.attach(run, { principal }).then(() => false)
  const isLost = await Promise.race([lost.then(() => true), ended])
  await first.endpoint.close()
  if (!isLost) return { status: 'completed', wrong, isLost, isStopped: false, isMoved: false }

  const [former, next] = [observing('old', recorded, wrong), observing('new', recorded, wrong)]
  const processes = []
  if (way === 'beside') {
    const newPort = await freePort()
    processes.push(await serve(after, newPort, next.hooks))
    await server.register(newPort)
    processes.push(await serve(before, port, former.hooks))
  } else processes.push(await serve(after, port, next.hooks))
  const status = await first.durable.attach(run, { principal }).then(
    (result): string => {
      for (const { callId } of result.pending)
        if (recorded.has(callId as Effect)) wrong.push(`${callId} waits for approval again`)
      return result.status
    },
    ({ code }) => (code === 'journal.diverged' ? 'diverged' : 'failed'),
  )
  for (const { endpoint } of processes) await endpoint.close()
  if (way === 'beside' && next.used) wrong.push('the run of the old build was continued by the new one')
  if (way === 'in place' && status !== 'diverged') wrong.push(...(await silentDifferences(before, after)))
  return { status, wrong, isLost, isStopped: status === 'diverged', isMoved: false }
}

/** Returns the layers, tools and schemas that differ, although the run was continued. */
async function silentDifferences(before: Build, after: Build): Promise<string[]> {
  const [was, is] = [before, after].map((build) => agentOf(build, { name: 'agent', clock: systemClock, onEffect() {} }))
  const { structure } = codeDifferences(await shapeOf(was as Agent), await shapeOf(is as Agent))
  return structure.map((difference) => `${difference}, and nothing reported it`)
}

interface Hooks {
  onEffect(effect: Effect): unknown
  onModel(request: ModelRequest): unknown
}

/** Stands still in the call with this number, as a process that is lost. */
function losing(calls: number) {
  let count = 0
  let lose = () => {}
  const lost = new Promise<void>((resolve) => (lose = resolve))
  const ran = new Set<Effect>()
  const recorded = new Set<Effect>()
  const reach = () => {
    if (++count < calls) return undefined
    lose()
    return new Promise(() => {})
  }
  const onEffect = (effect: Effect) => {
    ran.add(effect)
    return reach()
  }
  const onModel = () => {
    // A step ends when Restate has recorded it, so all before this one are recorded, but not those beside the loop.
    for (const effect of ran) if (effect !== 'beside') recorded.add(effect)
    return reach()
  }
  return { lost, recorded, hooks: { onEffect, onModel } }
}

/** Checks what a later process runs, and what its model gets. */
function observing(build: string, recorded: ReadonlySet<Effect>, wrong: string[]) {
  const seen = { used: false }
  const onEffect = (effect: Effect) => {
    seen.used = true
    if (recorded.has(effect)) wrong.push(`${effect} ran twice, by the ${build} build`)
  }
  const onModel = ({ messages }: ModelRequest) => {
    seen.used = true
    const results = resultsIn(messages)
    for (const effect of [...recorded].filter(isCall))
      if (!results.has(effect)) wrong.push(`${effect} is missing in the history`)
  }
  return Object.assign(seen, { hooks: { onEffect, onModel } })
}

/** The effects whose calls have succeeded in a history. */
function resultsIn(messages: ModelRequest['messages']): Set<Effect> {
  const parts = messages.flatMap(({ role, content }) => (role === 'tool' && Array.isArray(content) ? content : []))
  const results = parts as readonly { callId?: string; isError?: boolean }[]
  return new Set(results.filter(({ isError }) => isError !== true).map(({ callId }) => callId as Effect))
}
