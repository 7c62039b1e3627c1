import { checkMessage } from '../../messages/check-messages.ts'
import type { Message } from '../../messages/message.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { TurnAttempt, TurnContext } from './context.ts'

/** Details about an incoming message, passed to `onInput()`. */
export interface InputAbout {
  /** Whether the message was steered into the running turn. */
  readonly steered: boolean
  /**
   * The context for actions on this message. If the message goes to a sub-agent, state writes and records of this
   * context count as effects of the sub-agent's call. A replay does not run the sub-agent again, so it applies them
   * from the journal.
   */
  readonly ctx: TurnContext
}

/**
 * Inspects a message before the layers inside see it. Returns another message to replace it, null to drop it, or
 * nothing to keep it.
 */
export type OnInput = (
  message: Message,
  about: InputAbout,
) => Message | null | undefined | void | Promise<Message | null | undefined | void>

/** The `onInput()` function of a turn layer. */
export interface InputStep {
  readonly fn: OnInput
  readonly layer: TurnAttempt
  /** The context that is passed to the function. @default the layer's own */
  readonly ctx?: TurnContext | undefined
}

/** Passes the messages through some steps, one after the other, and returns the result. */
export async function throughInputLayers(
  messages: readonly Message[],
  steps: readonly InputStep[],
): Promise<Message[]> {
  const kept: Message[] = []
  for (const message of messages) {
    let now: Message | null = message
    for (const { fn, layer, ctx = layer } of steps) {
      const given: Message | null | undefined | void = await fn(now, { steered: false, ctx })
      if (given !== undefined) now = given
      if (now === null) break
    }
    if (now !== null) kept.push(now)
  }
  return kept
}

/** Passes a steered message through the layers. A block rejects only this message. */
export async function throughSteerLayers(message: Message, steps: readonly InputStep[]): Promise<Message | null> {
  let now = message
  for (const { fn, layer, ctx = layer } of steps) {
    layer.$inspectsSteered = true
    try {
      const given = await fn(now, { steered: true, ctx })
      if (given === null) return null
      if (given === undefined) continue
      checkMessage(given, `What "${layer.$hook?.name}" made of a message`, 'layer.result')
      now = given
    } finally {
      layer.$inspectsSteered = false
    }
  }
  return now
}

/** Returns the inputs of the parent agents' layers that this session's agent inherits, outermost first. */
export function inheritedInputs(session: SessionScope): readonly InputStep[] {
  return inheritedFrom(session, session, 1)
}

function inheritedFrom(target: SessionScope, { parent }: SessionScope, levels: number): readonly InputStep[] {
  if (parent === undefined) return []
  const { session, inputs = [] } = parent.$turn
  const inherited = inputs.filter(({ layer }) => layer.$hook?.inherit === true)
  return [
    ...inheritedFrom(target, session, levels + 1),
    ...inherited.map(({ fn, layer }) => ({ fn, layer, ctx: contextInside(layer, target, levels) })),
  ]
}

/** Returns a layer's context for a sub-agent's input. Its effects are logged with the call. */
function contextInside(layer: TurnAttempt, session: SessionScope, levels: number): TurnAttempt {
  return Object.create(layer, {
    $view: { value: undefined, writable: true },
    $effects: { value: { session, levelsUp: levels + (layer.$hook?.levelsUp ?? 0) } },
  })
}
