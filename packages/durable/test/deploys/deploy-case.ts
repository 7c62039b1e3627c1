import type { RunStore } from '@allium/store'
import type { Durable, Entry } from '../../src/index.ts'
import { agentOf, type Build, type Effect, effectsIn, isCall } from './builds.ts'
import type { DeployCase } from './cases.ts'
import { endOf, type Place, principal, processOf, stepsOf } from './process.ts'
import { type Start, startHere } from './start-here.ts'

/** The end of a case, and what went wrong in it. */
export interface Deployed {
  /** `diverged` if the engine cannot continue a run that a new build has stopped. */
  readonly status: string
  /** The process of the old build was lost. Otherwise it ended the run, and there is nothing to check. */
  readonly isLost: boolean
  /** An effect that ran again or is missing in the history, or a difference that was not reported. */
  readonly wrong: readonly string[]
  /** The new build stopped the run, with a named divergence. */
  readonly isStopped: boolean
  /** The run was moved to the new build afterwards. */
  readonly isMoved: boolean
}

/** Runs a case: the old build loses its process, and the new one takes the run over. */
export async function deployed(of: DeployCase, place: Place, start: Start = startHere): Promise<Deployed> {
  const wrong: string[] = []
  const { run, isLost } = await start(place, of)
  if (!isLost) return { status: 'completed', wrong, isLost, isStopped: false, isMoved: false }
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
  for (const effect of [...recorded].filter(isCall)) {
    const result = end.toolCalls?.find(({ callId }) => callId === effect)?.result
    if (end.status === 'completed' && result?.isError !== false) wrong.push(`${effect} is missing in the history`)
    if (end.pending?.some(({ callId }) => callId === effect)) wrong.push(`${effect} waits for approval again`)
  }
  return { status: end.status, wrong, isLost, isStopped, isMoved }
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
