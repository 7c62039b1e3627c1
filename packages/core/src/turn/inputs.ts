import type { TurnView } from '../contexts/turn.ts'
import type { Message } from '../messages/message.ts'
import type { InputStep } from '../session/scope/parent-call.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'

/** The outcome of a message that was sent to a running turn. */
export interface Steered {
  /** Whether the message entered the history, before a step of the turn. */
  readonly delivered: boolean
  /** Why it did not. Nothing of the message is stored then. */
  readonly reason?: string
  /** For a message that a layer blocked: the code of the rule. */
  readonly code?: string
}

/** A message for a running turn, until it is delivered or rejected. */
export interface Steer {
  /** The id in events. If undefined, the turn creates one. */
  readonly id: string | undefined
  readonly message: Message
  settle(outcome: Steered): void
  fail(error: unknown): void
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

/** Returns the inputs of the parent agents' layers that this session's agent inherits, outermost first. */
export function inheritedInputs(
  target: SessionScope,
  { parent }: SessionScope = target,
  levels = 1,
): readonly InputStep[] {
  if (parent === undefined) return []
  const { session, inputs = [] } = parent.$turn
  const inherited = inputs.filter(({ layer }) => layer.$hook?.inherit === true)
  return [
    ...inheritedInputs(target, session, levels + 1),
    ...inherited.map(({ fn, layer }) => ({ fn, layer, ctx: contextInside(layer, target, levels) })),
  ]
}

/** Returns a layer's context for a sub-agent's input. Its effects are logged with the call. */
function contextInside(layer: InputStep['layer'], session: SessionScope, levels: number): TurnView {
  return Object.create(layer, {
    $view: { value: undefined, writable: true },
    $effects: { value: { session, levelsUp: levels + (layer.$hook?.levelsUp ?? 0) } },
  })
}
