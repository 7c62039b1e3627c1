import { grace } from '../case.ts'
import { type Attempt, type Fault, outerOf, type Place, type Run } from './run.ts'

/* Where an attempt ends, and where the run does: design §4, rules 3, 4 and 7. */

/** The attempt is over for all inside: physical calls are cut, the caller goes on; what hangs is given up after a while. */
export function leave(run: Run, attempt: Attempt, reason: Fault): void {
  run.decides()
  attempt.state = 'left'
  // Reading 12: once the run has ended, what unwinds counts.
  attempt.spared = run.ended !== undefined
  if (attempt.spared) run.open.add('endedAt')
  // The end woke who waited outside at the very instant at which it woke a layer inside, which has answered.
  if (attempt.spared && run.wokeAt === run.time.now && run.flowedAt === run.time.now) openText(run)
  attempt.leftAt = run.time.now
  for (const holder of [...run.holders]) if (isInside(holder.attempt, attempt)) run.dropHeld?.(holder)
  const inside = run.attempts.filter((one) => isInside(one, attempt))
  for (const { caller, place } of inside)
    if (caller !== undefined && place !== caller.attempt.place) fire(place, reason)
  for (const one of inside) one.core?.reject(reason)
  attempt.result.reject(reason)
  run.time.at(run.time.now + grace, () => {
    for (const one of inside.reverse()) one.result.reject(reason)
  })
}

/** The run ends before its time: the first abort or block stays, and beats a failure. */
export function end(run: Run, kind: 'aborted' | 'blocked' | 'failed', error: Fault): void {
  const before = run.ended
  if (run.decided || (before !== undefined && (before.kind !== 'failed' || kind === 'failed'))) return
  run.decides()
  // Who waited outside goes on at the very instant of a failure: it may be out before an inner layer blocks or aborts.
  if (before !== undefined && run.wokeAt === run.time.now) run.openAll()
  run.ended = { kind, error, at: before?.at ?? run.time.now }
  if (run.flowedAt === run.time.now) openText(run)
  if (before !== undefined) return
  for (const { core, call } of run.attempts) if (call.scope !== 'turn') core?.reject(error)
  if ([...run.root.waiting].some(({ outcome }) => outcome === undefined)) run.wokeAt = run.time.now
  fire(run.root, error)
  run.time.at(run.time.now + grace, () => giveUp(run, error, outlives))
  run.time.at(run.time.now + 2 * grace, () => giveUp(run, error, () => false))
}

function openText({ open }: Run): void {
  for (const aspect of ['text', 'shown', 'history'] as const) open.add(aspect)
}

/** What hangs for too long is left, and every next() around it rejects, from the inside out. */
function giveUp(run: Run, error: Fault, stays: (attempt: Attempt) => boolean): void {
  const hanging = run.attempts.filter(({ result }) => result.outcome === undefined).reverse()
  const given = hanging.filter((attempt) => !stays(attempt))
  if (given.length > 0) hangs(run)
  for (const attempt of given) {
    attempt.state = 'left'
    attempt.result.reject(error)
  }
}

/** The turn itself, where its outermost layer is around what hangs: it has as long again. */
function outlives({ call, caller, layer }: Attempt): boolean {
  return call.scope === 'turn' && caller === undefined && layer?.inner?.state === 'running'
}

/** Reading 7. */
export function hangs(run: Run): void {
  for (const aspect of ['state', 'heard', 'streamed', 'once', 'late', 'endedAt'] as const) run.open.add(aspect)
}

/** Whether nothing inside this attempt has an effect any more. */
export function gone(attempt: Attempt): boolean {
  for (let at: Attempt | undefined = attempt; at !== undefined; at = outerOf(at))
    if (at.state === 'failed' || (at.state === 'left' && !at.spared)) return true
  return false
}

function isInside(attempt: Attempt, outer: Attempt): boolean {
  for (let at: Attempt | undefined = attempt; at !== undefined; at = outerOf(at)) if (at === outer) return true
  return false
}

/** When the first attempt around was left, if one was. */
export function leftAt(attempt: Attempt): number | undefined {
  let first: number | undefined
  for (let at: Attempt | undefined = attempt; at !== undefined; at = outerOf(at))
    if (at.leftAt !== undefined) first = Math.min(first ?? at.leftAt, at.leftAt)
  return first
}

export function narrow(outer: Place): Place {
  return { outer, reason: undefined, waiting: new Set() }
}

export function reasonOf(place: Place | undefined): Fault | undefined {
  return place === undefined ? undefined : (place.reason ?? reasonOf(place.outer))
}

export function fire(place: Place, reason: Fault): void {
  place.reason = reason
  for (const cell of place.waiting) cell.reject(reason)
}
