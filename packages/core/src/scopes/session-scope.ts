import { checkHistory } from '../messages/check-messages.ts'
import { History } from '../messages/history.ts'
import type { Message } from '../messages/message.ts'
import { Capabilities } from '../seams/capability.ts'
import { type State, StateStore } from '../state/state-store.ts'
import type { AgentScope } from './agent-scope.ts'
import type { TurnScope } from './turn-scope.ts'

/** One conversation: its history, its state, and the turn that runs now. */
export class SessionScope {
  readonly history = new History()
  turnCount = 0
  /** The turn that runs now. */
  turn: TurnScope | undefined
  #state: StateStore | undefined
  #capabilities: Capabilities | undefined
  #metadata: Record<string, unknown> | undefined
  #turnPrefix: string | undefined
  #callIds: Set<string> | undefined

  constructor(
    readonly agent: AgentScope,
    readonly id: string,
    readonly principal: unknown,
    readonly context: unknown,
    metadata: Record<string, unknown> | undefined,
    /** Whether nobody else can use this id: then turn ids begin with it. */
    ownId: boolean,
  ) {
    this.#metadata = metadata
    if (ownId) this.#turnPrefix = id
  }

  get state(): StateStore {
    this.#state ??= new StateStore(this.agent.fields, this)
    return this.#state
  }
  get metadata(): Record<string, unknown> {
    this.#metadata ??= {}
    return this.#metadata
  }
  get capabilities(): Capabilities {
    this.#capabilities ??= new Capabilities(this.agent.capabilities)
    return this.#capabilities
  }

  nextTurnId(): string {
    this.#turnPrefix ??= this.agent.setup.ids()
    return `${this.#turnPrefix}:${this.turnCount}`
  }

  /** Ids of the tool calls in the history: a provider that counts from 0 in each answer would repeat them. */
  get callIds(): Set<string> {
    if (this.#callIds === undefined) {
      this.#callIds = new Set()
      for (const { content } of this.history.items)
        if (typeof content !== 'string')
          for (const part of content) if (part.type === 'tool-call') this.#callIds.add(part.callId)
    }
    return this.#callIds
  }

  restore({ history, state }: { history: readonly Message[]; state: State }): void {
    checkHistory(history)
    this.history.reset(history)
    this.#callIds = undefined
    this.state.restore(state)
  }

  /** A reducer failed: so does the turn, even if the layer swallows it. */
  failed(error: unknown): void {
    this.turn?.fail(error)
  }

  undeclared(key: string): void {
    this.agent.warnOnce(
      `state:${key}`,
      `The state key "${key}" is declared by no layer: it lasts for this run and is not persisted. Declare it in "state".`,
    )
  }
}
