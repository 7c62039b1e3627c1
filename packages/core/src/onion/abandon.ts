import { silence } from '../errors/thenable.ts'
import { type Attempt, isOpen, State } from './attempt.ts'

/**
 * Leaves an attempt: from here on nothing inside has an effect. What its core runs is closed; the layers inside unwind, told
 * by their next() or by their signal; the caller's next() rejects at once.
 */
export function abandon(attempt: Attempt, reason: unknown): void {
  const chain = markAbandoned(attempt, reason)
  const deepest = chain[chain.length - 1] as Attempt
  for (const one of chain) close(one, reason)
  if (isInCore(deepest)) reject(deepest, reason)
  reject(attempt, reason)
  const layers = chain.filter(({ $hook, $exited }) => $hook !== undefined && !$exited)
  if (layers.length > 0) attempt.$call.abandoned(layers)
}

/**
 * Gives up a call whose layers do not come back: each next() in it rejects, from the inside out.
 * @param withRoot whether who runs the call learns it, too
 * @returns its layers that still run, outermost first
 */
export function rejectAll(root: Attempt, reason: unknown, withRoot = true): Attempt[] {
  const chain = markAbandoned(root, reason)
  for (const one of [...chain].reverse()) {
    close(one, reason)
    if (withRoot || one !== root) reject(one, reason)
  }
  return chain.filter(({ $hook, $exited }) => $hook !== undefined && !$exited)
}

/** The next() that opened an attempt rejects, and what runs in it is over. A rejection that nobody awaits ends no process. */
export function reject(attempt: Attempt, error: unknown): void {
  if (attempt.$caller === undefined) attempt.$call.settled(attempt)
  if (attempt.$reject === undefined) return
  silence(attempt.$promise)
  attempt.$reject(error)
}

/** The open attempts from one inward. */
export function chainOf(attempt: Attempt): Attempt[] {
  const chain: Attempt[] = []
  for (let at: Attempt | undefined = attempt; at !== undefined && isOpen(at); at = at.$inner) chain.push(at)
  return chain
}

/** Whether what runs in an attempt now is the core's: no layer has to come back first. */
export function isInCore({ $hook, $exited }: Attempt): boolean {
  return $hook === undefined || $exited
}

function markAbandoned(attempt: Attempt, reason: unknown): Attempt[] {
  const chain = chainOf(attempt)
  for (const one of chain) {
    one.$state = State.abandoned
    one.$exempt = one.$call.end !== undefined
    one.$outcome = reason
  }
  return chain
}

function close(attempt: Attempt, reason: unknown): void {
  const { $caller: caller, $cancel, $call } = attempt
  caller?.$stage?.kill(reason)
  attempt.$stage?.kill(reason)
  attempt.$release?.()
  $call.ring.rollback(attempt)
  if (attempt.$hook === undefined) $call.ring.cancel(attempt, reason)
  if (caller !== undefined && caller.$cancel !== $cancel) $cancel.abort(reason)
}
