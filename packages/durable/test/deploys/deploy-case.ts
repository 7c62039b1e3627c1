import type { Clock, Lease } from '@allium/core'
import type { EventLog, RunStore, SessionStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { type Durable, durable, type Entry } from '../../src/index.ts'
import { agentOf, type Build, type Effect, effectsIn, logger } from './builds.ts'
import type { DeployCase } from './cases.ts'

export const principal = { tenantId: 'acme', userId: 'ann' }

/** Where the processes of a case keep their run. */
export interface Place {
  readonly store: { readonly sessions: SessionStore; readonly runs: RunStore; readonly events: EventLog }
  /** The clock of the processes that are not lost. */
  readonly clock: Clock
  /** Milliseconds. */
  readonly lease: number
  /** The name of the agent. Cases that share a store have names of their own. */
  readonly name: string
  /** Lets so many milliseconds pass. */
  pass(ms: number): Promise<void>
  /** Returns before the next look at a run. */
  soon(): Promise<void>
}

/** The end of a case, and what went wrong in it. */
export interface Deployed {
  readonly status: string
  /** An effect that ran again or is missing in the history, or a difference that was not reported. */
  readonly wrong: readonly string[]
  /** The new build stopped the run, with a named divergence. */
  readonly isStopped: boolean
  /** The run was moved to the new build afterwards. */
  readonly isMoved: boolean
}

/** Starts the run in a process that is lost, or that ends it before. Returns once the lease of a lost process has expired. */
export type Start = (place: Place, of: DeployCase) => Promise<{ run: string; isLost: boolean }>

/** Runs a case: the old build loses its process, and the new one takes the run over. */
export async function deployed(of: DeployCase, place: Place, start: Start = startHere): Promise<Deployed> {
  const wrong: string[] = []
  const { run, isLost } = await start(place, of)
  if (!isLost) return { status: 'completed', wrong, isStopped: false, isMoved: false }
  const steps = await stepsOf(place, run)
  const recorded = effectsIn(steps)
  const onEffect = (effect: Effect) => {
    if (recorded.has(effect)) wrong.push(`${effect} ran twice`)
  }
  const runs = noting(place.store.runs, recorded)
  const next = processOf(place, '2', of.after, { onEffect, runs })
  await next.recover()
  let end = await endOf(next, run, place)
  const isStopped = end.code === 'journal.diverged'
  const isMoved = isStopped && (await moves(next, run, place))
  if (isMoved) end = await endOf(next, run, place)
  if (!isStopped || isMoved) wrong.push(...(await silentDifferences(of, place, { run, runs: next, steps })))
  await next.drain()
  if (isStopped && !isMoved) {
    const former = processOf(place, '1', of.before, { onEffect, runs })
    if (!(await former.retry(run, { principal }))) wrong.push('the build that began the run cannot continue it')
    end = await endOf(former, run, place)
    await former.drain()
  }
  for (const effect of recorded)
    if (end.status === 'completed' && end.toolCalls?.find(({ callId }) => callId === effect)?.result?.isError !== false)
      wrong.push(`${effect} is missing in the history`)
  return { status: end.status, wrong, isStopped, isMoved }
}

export interface ProcessSetup {
  onEffect(effect: Effect): void
  readonly clock?: Clock
  readonly lease?: number
  readonly runs?: RunStore
}

/** A process with a build. The second version accepts runs of the first. */
export function processOf(place: Place, version: '1' | '2', build: Build, setup: ProcessSetup): Durable {
  const { store, name } = place
  const { clock = place.clock, lease = place.lease, runs = store.runs, onEffect } = setup
  const agent = agentOf(build, { name, version, sessions: store.sessions, clock, onEffect })
  const accepts = version === '1' ? [] : ['1']
  return durable(agent as never, { store: { ...store, runs }, accepts, lease, attempts: 50, clock, logger })
}

/** Loses the process in this one: the record of its next step is never written, and its clock stands still. */
async function startHere(place: Place, { before, dieAfter }: DeployCase) {
  const { runs, lost } = losing(place.store.runs, dieAfter)
  const first = processOf(place, '1', before, { onEffect() {}, runs, clock: manualClock(), lease: 600_000 })
  const { run } = await first.start({ principal, sessionId: 'chat', input: 'Go.' })
  const lease = await Promise.race([lost, endOf(first, run, place).then(() => undefined)])
  if (lease === undefined) return { run, isLost: false }
  await place.store.runs.renew([lease], 1)
  await place.pass(10)
  return { run, isLost: true }
}

function losing(runs: RunStore, steps: number) {
  let count = 0
  let lose = (_: Lease) => {}
  const lost = new Promise<Lease>((resolve) => (lose = resolve))
  const record: RunStore['record'] = async (lease, run, step) => {
    if (++count <= steps) return runs.record(lease, run, step)
    lose(lease)
    return new Promise(() => {})
  }
  return { runs: Object.assign(Object.create(runs) as RunStore, { record }), lost }
}

/** Adds each recorded effect to a set. */
function noting(runs: RunStore, recorded: Set<Effect>): RunStore {
  const record: RunStore['record'] = async (lease, run, step) => {
    await runs.record(lease, run, step)
    for (const effect of effectsIn([step.id])) recorded.add(effect)
  }
  return Object.assign(Object.create(runs) as RunStore, { record })
}

/** Moves the run, if it fits. A rehearsal waits one lease for recorded calls that the code may still request. */
async function moves(runs: Durable, run: string, { pass, lease }: Place): Promise<boolean> {
  const migration = runs.migrate(run, { principal, to: '2' })
  let isOver = false
  migration.finally(() => (isOver = true)).catch(() => {})
  while (!isOver) await pass(lease / 10)
  return (await migration).moved
}

export async function endOf(runs: Durable, run: string, { soon }: Pick<Place, 'soon'>) {
  for (;;) {
    const info = await runs.get(run, { principal })
    if (info.status !== 'running' && info.status !== 'queued') return info
    await soon()
  }
}

export async function stepsOf({ store, name }: Place, run: string): Promise<string[]> {
  const key = { tenant: 'acme', owner: 'ann', agent: name, sessionId: 'chat' }
  return (await store.runs.steps({ key, token: 0, version: 0 }, run)).map(({ id }) => id)
}

/** Returns the layers and tools that differ although the run neither stopped nor reported a difference. */
async function silentDifferences(
  { before, after }: DeployCase,
  place: Place,
  { run, runs, steps }: { run: string; runs: Durable; steps: readonly string[] },
): Promise<string[]> {
  const [was, is] = [before, after].map((build) => declaredBy(build, place))
  if (was === is || !steps.some((id) => id !== `${run}:start`)) return []
  for await (const { event } of runs.attach(run, { principal }))
    if ((event as Entry).event.type === 'journal:drift') return []
  return [`${was} became ${is}, and nothing reported it`]
}

/** The layers with their options, and the tools with their schemas. */
function declaredBy(build: Build, { store, clock }: Place): string {
  const agent = agentOf(build, { name: 'declared', sessions: store.sessions, clock, onEffect() {} })
  const { layers, tools } = agent.inspect()
  return JSON.stringify([
    layers.map(({ place: _, ...layer }) => layer),
    tools.map(({ name, jsonSchema }) => [name, jsonSchema]),
  ])
}
