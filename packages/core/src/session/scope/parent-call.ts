import type { OnInput, TurnView } from '../../contexts/turn.ts'
import type { CustomEvent, StreamEvent } from '../../events/events.ts'
import type { Identity } from '../../messages/message.ts'
import type { Usage } from '../../messages/usage.ts'
import type { Attempt, Call } from '../../onion/attempt.ts'
import type { Onion } from '../../onion/hook.ts'
import type { Journal } from '../../ports/journal.ts'
import type { StoredRecord } from '../../ports/session-store.ts'
import type { SuspendedCall } from '../../state/snapshot.ts'

/**
 * The effects of a call's sub-agents on the turns around it. It is recorded with the call's step, because a replay of
 * the step does not run the sub-agents.
 */
export interface EffectLog {
  readonly usage: Usage
  /** Records stored with the run of the agent `up` levels above the call's own. */
  readonly records: { up: number; record: StoredRecord }[]
  /** State writes of inherited layers. */
  readonly writes: { up: number; key: string; value: unknown }[]
}

/** The `onInput()` function of a turn layer. */
export interface InputStep {
  readonly fn: OnInput
  readonly layer: Attempt & TurnView & { $inspectsSteered: boolean }
  /** The context that is passed to the function. @default the layer's own */
  readonly ctx?: TurnView | undefined
}

/** The tool call that runs a sub-agent, as the sub-agent's session and turns see it. */
export interface ParentCall<Session> extends Attempt {
  readonly $call: Call & { readonly requested: { readonly suspension: SuspendedCall | undefined } }
  readonly $turn: ParentTurn<Session>
  readonly $effectLog: EffectLog | undefined
}

/** The turn of the agent that called a sub-agent. */
interface ParentTurn<Session> {
  readonly session: Session
  readonly journal: Journal
  readonly options: {
    readonly resume: { readonly approver: { readonly principal: unknown; readonly by: Identity } } | undefined
    readonly began: object | undefined
    readonly onion: Onion
  }
  /** The layers' `onInput()` functions. */
  readonly inputs: readonly InputStep[] | undefined
  readonly location: { sessionId: string; turnId: string; stepIndex: number }
  readonly usage: Usage
  /** Records of layers and tools, to be stored with the run. */
  records: StoredRecord[] | undefined
  send(event: StreamEvent | CustomEvent): void
}

/** The running turn of a session, as the session and its layers see it. */
export interface RunningTurn {
  readonly lifecycle: { fail(error: unknown): void }
  send(event: CustomEvent): void
}
