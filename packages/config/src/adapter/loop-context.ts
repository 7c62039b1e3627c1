import type { Message } from '@allium/core'
import type { LoopContext } from '../contexts.ts'
import { type Draft, type EntryState, Lazy } from './draft.ts'
import type { Loop } from './loop.ts'
import { sendableMessages } from './sendable.ts'

/** @param added messages that are not in the conversation yet */
export function loopDraft(loop: Loop, entryState: EntryState, added: readonly Message[] = []): Draft<LoopContext> {
  const messages = new Lazy<Message[]>(() => [...loop.messages, ...added])
  const ctx = {
    get messages() {
      return messages.value
    },
    set messages(changed) {
      messages.value = changed
    },
    iteration: loop.iteration,
    maxIterations: loop.maxIterations,
    sessionId: loop.sessionId,
    usage: loop.usage,
    resumed: loop.resumed,
    ...verbs(loop, entryState),
  } as LoopContext
  defineSignal(ctx, loop)
  // Lets a hook for any position use `ctx.loop` here too; it is left out of JSON.
  Object.defineProperty(ctx, 'loop', { value: ctx })
  const commit = () => {
    if (messages.touched) loop.messages = sendableMessages(messages.value, 'ctx.messages')
  }
  return { ctx, commit }
}

/** Returns a context inside the loop: its own fields and the loop's. */
export function inLoop<Fields extends object>(
  loop: Loop,
  entryState: EntryState,
  fields: Fields,
  added?: readonly Message[],
) {
  const ctx = Object.defineProperties(
    { loop: loopDraft(loop, entryState, added).ctx, ...verbs(loop, entryState) },
    Object.getOwnPropertyDescriptors(fields),
  )
  defineSignal(ctx, loop)
  return ctx as Fields & { readonly loop: LoopContext; readonly signal: AbortSignal; stop(reason?: string): void }
}

function verbs(loop: Loop, entryState: EntryState) {
  return {
    stop(reason?: string) {
      if (entryState.open) loop.stop(reason)
    },
  }
}

/** Created on access; not enumerable, so that a context can be serialized as JSON. */
function defineSignal(ctx: object, loop: Loop): void {
  Object.defineProperty(ctx, 'signal', { get: () => loop.signal, enumerable: false, configurable: true })
}
