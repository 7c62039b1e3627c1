import { silence } from '../errors/thenable.ts'
import { type Attempt, isOpen, State } from './attempt.ts'

/**
 * Abandons an attempt: from now on nothing inside it has an effect.
 * Cancels the core's work and rejects the caller's next() at once. The layers inside unwind when their next() rejects
 * or their signal aborts.
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
 * Gives up on a call whose layers do not return. Every next() in it rejects, from the inside out.
 * @param withRoot whether to reject the root too, so that the caller of the whole call gets the error
 * @returns the layers that are still running, outermost first
 */
export function rejectAll(root: Attempt, reason: unknown, withRoot = true): Attempt[] {
  const chain = markAbandoned(root, reason)
  for (const one of [...chain].reverse()) {
    close(one, reason)
    if (withRoot || one !== root) reject(one, reason)
  }
  return chain.filter(({ $hook, $exited }) => $hook !== undefined && !$exited)
}

/**
 * Rejects the next() that opened the attempt. The promise is silenced first, so a rejection that is not awaited cannot
 * end the process.
 */
export function reject(attempt: Attempt, error: unknown): void {
  if (attempt.$caller === undefined) attempt.$call.settled(attempt)
  if (attempt.$reject === undefined) return
  silence(attempt.$promise)
  attempt.$reject(error)
}

/** Returns the open attempts from this one inward. */
export function chainOf(attempt: Attempt): Attempt[] {
  const chain: Attempt[] = []
  for (let at: Attempt | undefined = attempt; at !== undefined && isOpen(at); at = at.$inner) chain.push(at)
  return chain
}

/** Whether the core is running in this attempt, so no layer has to return first. */
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
  $call.ring.rollback?.(attempt)
  if (attempt.$hook === undefined) $call.ring.cancel?.(attempt, reason)
  if (caller !== undefined && caller.$cancel !== $cancel) $cancel.abort(reason)
}
