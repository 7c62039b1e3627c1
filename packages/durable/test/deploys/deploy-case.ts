import type { RunStore } from '@allium/store'
import type { Durable, Entry } from '../../src/index.ts'
import { agentOf, type Build, type Effect, effectsIn, isCall } from './builds.ts'
import type { DeployCase } from './cases.ts'
import { endOf, moved, type Place, principal, processOf, rehearsed, stepsOf } from './process.ts'
import { type Start, startHere } from './start-here.ts'

/** The end of a case, and what went wrong in it. */
export interface Deployed {
  /** `diverged` if the engine cannot continue a run that a new build has stopped. */
  readonly status: string
  /** The process of the old build was lost. Otherwise it ended the run, and there is nothing to check. */
  readonly isLost: boolean
  /** An effect that ran again or is hidden, a rehearsal that was wrong, or a difference that was not reported. */
  readonly wrong: readonly string[]
  /** The new build stopped the run, with a named divergence. */
  readonly isStopped: boolean
  /** The run was moved to the new build. */
  readonly isMoved: boolean
}

const unchanged: Deployed = { status: 'completed', wrong: [], isLost: false, isStopped: false, isMoved: false }

/** Runs a case: the old build loses its process, and the new one takes the run over. */
export async function deployed(of: DeployCase, place: Place, start: Start = startHere): Promise<Deployed> {
  const { run, isLost, happened = [] } = await start(place, of)
  if (!isLost) return unchanged
  const steps = await stepsOf(place, run)
  const seen = new Seen(place.store.runs, steps, repeatsCalls(of))
  const unrecorded = happened.filter((effect) => !seen.recorded.has(effect))
  const fit = await fits(of, place, run)
  const { way } = of
  const version = way === 'same' ? '1' : '2'
  let asked = seen.process()
  const next = processOf(place, version, of.after, { ...asked.effects, accepts: way === 'accept' ? ['1'] : [] })
  const isMoved = way === 'migrate' && fit.fits && (await moved(next, run, { place, to: '2' })).moved
  const takesOver = way !== 'migrate' || isMoved
  if (takesOver) await next.recover()
  let end = takesOver ? await endOf(next, run, place) : undefined
  const isStopped = end?.code === 'journal.diverged'
  const wrong = seen.wrong
  if (end !== undefined)
    wrong.push(...(await wrongRehearsal(of, { fit, isStopped, isMoved, reason: end.reason, happened })))
  if (end !== undefined && !isStopped) wrong.push(...(await silentDifferences(of, { run, runs: next, steps })))
  await next.drain()
  if (end === undefined || isStopped) {
    asked = seen.process()
    const former = processOf(place, isMoved ? '2' : '1', of.before, asked.effects)
    if (isStopped && !(await former.retry(run, { principal })))
      wrong.push('the build that began the run cannot continue it')
    await former.recover()
    end = await endOf(former, run, place)
    await former.drain()
  }
  wrong.push(
    ...(await hidden(place, {
      run,
      recorded: seen.recorded,
      asked: asked.asked,
      status: end.code ?? end.status,
    })),
  )
  if (renamesTool(of) && end.code !== 'journal.diverged')
    for (const effect of unrecorded.filter((effect) => isCall(effect) || effect === 'look'))
      if (!seen.ran.has(effect)) wrong.push(`${effect} happened in the lost process, and did not run again`)
  for (const effect of [...seen.recorded].filter(isCall))
    if (end.pending?.some(({ callId }) => callId === effect)) wrong.push(`${effect} waits for approval again`)
  return { status: end.code === 'journal.diverged' ? 'diverged' : end.status, wrong, isLost, isStopped, isMoved }
}

/** Whether the new build throws after a tool inside of a layer that repeats failed calls. It would repeat them without a deploy, too. */
function repeatsCalls({ after: { layers } }: DeployCase): boolean {
  const throws = layers.findIndex((layer) => /^gate: throw after a tool/.test(layer))
  return throws >= 0 && layers.includes('again')
}

/** Whether the new build cannot run a call that the former one began. A layer that denies a call is not known to have let it pass before. */
function renamesTool({ before, after }: DeployCase): boolean {
  return before.mail !== after.mail || before.helper?.look !== after.helper?.look
}

/** Notes which effects are recorded, and which of them happen again. */
class Seen {
  readonly recorded: Set<Effect>
  readonly wrong: string[] = []
  /** The effects that happened after the process was lost. */
  readonly ran = new Set<Effect>()
  readonly #runs: RunStore
  readonly #mayRepeat: boolean

  constructor(runs: RunStore, steps: readonly string[], mayRepeat: boolean) {
    this.#runs = runs
    this.#mayRepeat = mayRepeat
    this.recorded = effectsIn(steps)
  }

  /** Returns what another process gets, and the effects that its code comes to. */
  process() {
    const asked = new Set<Effect>()
    const record: RunStore['record'] = async (lease, run, step) => {
      await this.#runs.record(lease, run, step)
      for (const effect of effectsIn([step.id])) this.recorded.add(effect)
    }
    const runs = Object.assign(Object.create(this.#runs) as RunStore, { record })
    const onEffect = (effect: Effect) => {
      this.ran.add(effect)
      if (this.recorded.has(effect) && !(this.#mayRepeat && isCall(effect))) this.wrong.push(`${effect} ran twice`)
    }
    return { asked, effects: { runs, onEffect, onAsk: (effect: Effect) => void asked.add(effect) } }
  }
}

/** Rehearses the run with the new build, under a version of its own that takes over nothing. */
async function fits({ after }: DeployCase, place: Place, run: string) {
  const ran: Effect[] = []
  const rehearsing = processOf(place, '2', after, { onEffect: (effect) => void ran.push(effect) })
  const fit = await rehearsed(rehearsing, run, { place, to: '2' })
  await rehearsing.drain()
  return { ...fit, ran }
}

interface Rehearsed {
  readonly fit: Awaited<ReturnType<typeof fits>>
  readonly isStopped: boolean
  readonly isMoved: boolean
  readonly reason: string | undefined
  readonly happened: readonly Effect[]
}

/** Returns how the rehearsal differs from the takeover. One that was not moved is stopped by any difference of the structure, too. */
async function wrongRehearsal({ before, after }: DeployCase, { fit, isStopped, isMoved, reason, happened }: Rehearsed) {
  const wrong = fit.ran.map((effect) => `${effect} ran in the rehearsal`)
  const isSame = isMoved || JSON.stringify(structureOf(before)) === JSON.stringify(structureOf(after))
  // A process that was lost in a layer around a tool has not come to the tool. Only a takeover runs that layer, and comes there.
  const [, callId = ''] = /^The call "(\w+)" .* has no recorded result/.exec(reason ?? '') ?? []
  const isBeforeTool = callId !== '' && !happened.includes(callId)
  // A rehearsal runs no record beside the loop, so it cannot tell whether a recorded call waits for its end.
  const isBeside = after.layers.includes('beside') && /:tool:\w+:1" is recorded, but/.test(reason ?? '')
  if (fit.fits && isStopped && isSame && !isBeforeTool && !isBeside)
    wrong.push(`the rehearsal fits, but the takeover stopped: ${reason}`)
  if (!fit.fits && !isStopped) wrong.push(`the takeover continued, but the rehearsal does not fit: ${fit.reason}`)
  return wrong
}

/** Returns the recorded effects that the end of the run neither has nor came to. A stopped run keeps its steps. */
async function hidden(
  { store, name }: Place,
  { run, recorded, asked, status }: { run: string; recorded: ReadonlySet<Effect>; asked: Set<Effect>; status: string },
) {
  if (status === 'journal.diverged') return []
  const key = { tenant: 'acme', owner: 'ann', agent: name, sessionId: 'chat' }
  const turn = await store.sessions.find(key, { turnId: run })
  const parts = (turn?.messages ?? []).flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const results = parts.flatMap((part) => (part.type === 'tool-result' && part.isError !== true ? [part.callId] : []))
  const isKnown = (effect: Effect) => {
    // A layer may end the turn after a call, so that its result is not in the history.
    if (isCall(effect)) return results.includes(effect) || (status !== 'completed' && asked.has(effect))
    const isOfHelper = effect === 'look' || effect === 'judge Look' || effect.endsWith('of the helper')
    const isInAnswer = results.includes('ask') || (recorded.has('ask') && asked.has('ask'))
    return asked.has(effect) || (isOfHelper && isInAnswer)
  }
  return [...recorded].filter((one) => !isKnown(one)).map((effect) => `${effect} is hidden: the run is ${status}`)
}

/** Returns the layers and tools that differ although the run neither stopped nor reported a difference. */
async function silentDifferences(
  { before, after, change }: DeployCase,
  { run, runs, steps }: { run: string; runs: Durable; steps: readonly string[] },
): Promise<string[]> {
  const [was, is] = [before, after].map((build) => JSON.stringify(declaredBy(build)))
  const hasModelCall = steps.some((id) => /^[^/:]*:model:0:1$/.test(id))
  if (was === is || !steps.some((id) => id !== `${run}:start`)) return []
  const isOfModel = JSON.stringify(structureOf(before, true)) === JSON.stringify(structureOf(after, true))
  if (isOfModel && !hasModelCall) return []
  for await (const { event } of runs.attach(run, { principal }))
    if ((event as Entry).event.type === 'journal:drift') return []
  return [`another ${change}, and nothing reported it`]
}

/** The parts of a build of which a difference is reported. */
function declaredBy(build: Build) {
  const { instructions, description, temperature } = build
  return [structureOf(build, true), instructions, description, temperature]
}

/** The layers, with their options if asked, and the tools with their schemas. */
function structureOf(build: Build, withOptions = false) {
  const agent = agentOf(build, { name: 'declared', clock: undefined as never, onEffect() {} })
  const { layers, tools } = agent.inspect()
  return [
    layers.map(({ place: _, options, ...layer }) => (withOptions ? { ...layer, options } : layer)),
    tools.map(({ name, jsonSchema }) => [name, jsonSchema]),
  ]
}
