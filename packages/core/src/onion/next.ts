import { firstError } from '../errors/first-error.ts'
import { isStackOverflow } from '../errors/stack-overflow.ts'
import type { Cancel } from './cancel.ts'
import type { Hook, NextOptions, Passage } from './hook.ts'
import { floating, leftBehind, misuse } from './misuse.ts'
import { isThenable, rejected, silence } from './thenable.ts'

/** Where a layer stands with its next(). */
export const Phase = { idle: 0, running: 1, done: 2, failed: 3 } as const

/** One layer in one passage: the state of its next(). */
export class Frame {
  phase: number = Phase.idle
  exited = false
  /** Grows when the layer leaves a running next() behind; what is inside belongs to one epoch. */
  epoch = 0
  readonly parentEpoch: number
  /** What next() last rejected with. */
  error: unknown
  /** The promise of the running next(). */
  pending: Promise<unknown> | undefined
  /** The call's fields as they were at the first next(); kept by the scope. */
  saved: unknown
  /** What the scope keeps for this layer, such as its transforms. */
  own: unknown

  constructor(
    readonly passage: Passage,
    readonly hook: Hook,
    readonly index: number,
    readonly parent: Frame | undefined,
    /** The place of cancellation that this layer stands in. */
    readonly cancel: Cancel = passage.cancel,
  ) {
    this.parentEpoch = parent === undefined ? 0 : parent.epoch
  }

  /** Whether nobody outside has left this layer behind. */
  get alive(): boolean {
    if (!this.passage.left) return true
    for (let frame: Frame = this; frame.parent !== undefined; frame = frame.parent)
      if (frame.parent.epoch !== frame.parentEpoch) return false
    return true
  }
}

/** The place of the core itself, for what it needs a context for. */
export function coreFrame(passage: Passage, name: string, cancel: Cancel = passage.cancel): Frame {
  const hook: Hook = { name, run: nothing, config: undefined, reenters: false }
  return new Frame(passage, hook, passage.hooks.length, undefined, cancel)
}

function nothing(): void {}

/** Runs a passage from its outermost layer. Gives the result, or a promise of it; throws or rejects as the layers do. */
export function pass(passage: Passage): unknown {
  return enter(passage, 0, undefined)
}

function enter(passage: Passage, index: number, parent: Frame | undefined): unknown {
  const hook = passage.hooks[index]
  if (hook === undefined) return enterCore(passage, parent)
  const frame = new Frame(passage, hook, index, parent)
  let returned: unknown
  try {
    returned = hook.run(passage.view(frame) as never, (options) => advance(frame, options))
  } catch (error) {
    return threw(frame, error)
  }
  if (!isThenable(returned)) return returnedFrom(frame, returned)
  return returned.then(
    (value) => returnedFrom(frame, value),
    (error) => threw(frame, error),
  )
}

function enterCore(passage: Passage, parent: Frame | undefined): unknown {
  const epoch = parent === undefined ? 0 : parent.epoch
  let result: unknown
  try {
    result = passage.core()
  } catch (error) {
    return miss(parent, epoch, error)
  }
  if (parent === undefined) return result
  if (!isThenable(result)) return arrive(parent, epoch, result)
  return result.then(
    (value) => arrive(parent, epoch, value),
    (error) => miss(parent, epoch, error),
  )
}

/** next(): the rules of how often and when, then one step inward. */
function advance(frame: Frame, options: NextOptions | undefined): Promise<unknown> {
  const { passage } = frame
  if (frame.exited || frame.phase === Phase.running) return rejected(misuse(frame))
  const ending = passage.ending()
  if (ending !== undefined) return rejected(ending.error)
  const decided = passage.decided(frame)
  if (decided !== undefined) return Promise.resolve(decided)
  if (frame.phase === Phase.idle) passage.entering(frame)
  else if (mayReenter(frame)) passage.reentering(frame)
  else return rejected(misuse(frame))
  if (!frame.alive) return rejected(leftBehind(frame))
  frame.phase = Phase.running
  frame.pending = options?.signal === undefined ? inward(frame) : narrowed(frame, options.signal)
  return frame.pending
}

function mayReenter(frame: Frame): boolean {
  return frame.passage.reentrant && (frame.phase === Phase.failed || frame.hook.reenters)
}

function inward(frame: Frame): Promise<unknown> {
  try {
    const result = enter(frame.passage, frame.index + 1, frame)
    return result instanceof Promise ? result : Promise.resolve(result)
  } catch (error) {
    if (frame.phase === Phase.running) {
      frame.phase = Phase.failed
      frame.error = error
    }
    if (isStackOverflow(error)) throw error
    return rejected(error)
  }
}

/** next({ signal }): inward with a place of cancellation of its own, and out at once when the signal fires. */
function narrowed(frame: Frame, signal: AbortSignal): Promise<unknown> {
  const { passage } = frame
  const outer = passage.cancel
  const inner = outer.narrow()
  passage.cancel = inner
  return new Promise((resolve, reject) => {
    const settle = () => {
      signal.removeEventListener('abort', onAbort)
      inner.release()
      if (passage.cancel === inner) passage.cancel = outer
    }
    const onAbort = () => {
      if (frame.phase !== Phase.running) return
      settle()
      passage.cancel = outer
      leave(frame)
      frame.phase = Phase.failed
      frame.error = signal.reason
      passage.missed(frame)
      inner.abort(signal.reason)
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) return onAbort()
    inward(frame).then(
      (value) => {
        settle()
        resolve(value)
      },
      (error) => {
        settle()
        reject(error)
      },
    )
  })
}

/** A layer returned: with its next() at rest its value counts, otherwise that is its error. */
function returnedFrom(frame: Frame, value: unknown): unknown {
  frame.exited = true
  const { passage } = frame
  let result: unknown
  try {
    const floats = frame.phase === Phase.running
    if (floats) leave(frame)
    const ending = passage.ending()
    if (ending !== undefined) throw ending.error
    if (floats) throw floating(frame)
    if (!frame.alive) throw leftBehind(frame)
    result = passage.leaving(frame, value)
  } catch (error) {
    return miss(frame.parent, frame.parentEpoch, error)
  }
  if (!isThenable(result)) return arrive(frame.parent, frame.parentEpoch, result)
  return result.then(
    (settled) => arrive(frame.parent, frame.parentEpoch, settled),
    (error) => miss(frame.parent, frame.parentEpoch, error),
  )
}

/** A layer threw. The error goes outward as it is, unless the run has ended or it would hide the first one. */
function threw(frame: Frame, error: unknown): never {
  frame.exited = true
  if (frame.phase === Phase.running) leave(frame)
  const ending = frame.passage.ending()
  if (ending !== undefined) return miss(frame.parent, frame.parentEpoch, ending.error)
  return miss(frame.parent, frame.parentEpoch, frame.phase === Phase.failed ? firstError(frame.error, error) : error)
}

function arrive(parent: Frame | undefined, epoch: number, value: unknown): unknown {
  if (parent === undefined || parent.epoch !== epoch) return value
  let given: unknown
  try {
    given = parent.passage.arrived(parent, value)
  } catch (error) {
    return miss(parent, epoch, error)
  }
  if (!isThenable(given)) {
    parent.phase = Phase.done
    return given
  }
  return given.then(
    (settled) => {
      if (parent.epoch === epoch) parent.phase = Phase.done
      return settled
    },
    (error) => miss(parent, epoch, error),
  )
}

function miss(parent: Frame | undefined, epoch: number, error: unknown): never {
  if (parent !== undefined && parent.epoch === epoch) {
    parent.phase = Phase.failed
    parent.error = error
    parent.passage.missed(parent)
    silence(parent.pending)
  }
  throw error
}

/** Leaves a running next() behind: nobody waits for it any more, so what it runs is closed. */
function leave(frame: Frame): void {
  frame.epoch++
  frame.passage.left = true
  silence(frame.pending)
  frame.passage.close(frame)
}
