import type { BlockOptions, Capability, CustomEvent, TurnView } from '@allium/core'
import type { InnerRun } from '@allium/core/internal'

/** The point of the run at which a hook is called. */
export type HookPhase = 'init' | 'beforeModel' | 'modelStream' | 'beforeTools' | 'afterTools'

type Fields =
  | 'agent'
  | 'principal'
  | 'context'
  | 'sessionId'
  | 'turnId'
  | 'turnIndex'
  | 'startedAt'
  | 'input'
  | 'output'
  | 'history'
  | 'usage'
  | 'state'
  | 'metadata'
  | 'signal'
  | 'clock'
  | 'logger'
type Verbs = 'abort' | 'block' | 'stop' | 'defer' | 'once' | 'emit' | 'provide' | 'find'
type Turn<C> = TurnView<TurnView['state'], unknown, C>

/** The context of every hook; one object per run. `context` is the run's typed runtime context. */
export interface HookContext<C = unknown> extends Readonly<Pick<Turn<C>, Fields>>, Pick<Turn<C>, Verbs> {
  readonly phase: HookPhase
  /** Whether the turn resumes a suspended one. */
  readonly resumed: boolean
  /** Counts the model calls of the turn from 0. */
  readonly iteration: number
}

/** The context of one run, based on that of its turn. */
export class RunContext<C> implements HookContext<C> {
  phase: HookPhase = 'init'
  readonly resumed: boolean
  readonly #turn: Turn<C>

  constructor(turn: Turn<C>, resumed: boolean) {
    this.#turn = turn
    this.resumed = resumed
  }

  get iteration() {
    return this.#turn.stepIndex
  }
  get agent() {
    return this.#turn.agent
  }
  get principal() {
    return this.#turn.principal
  }
  get context() {
    return this.#turn.context
  }
  get sessionId() {
    return this.#turn.sessionId
  }
  get turnId() {
    return this.#turn.turnId
  }
  get turnIndex() {
    return this.#turn.turnIndex
  }
  get startedAt() {
    return this.#turn.startedAt
  }
  get input() {
    return this.#turn.input
  }
  get output() {
    return this.#turn.output
  }
  get history() {
    return this.#turn.history
  }
  get usage() {
    return this.#turn.usage
  }
  get state() {
    return this.#turn.state
  }
  get metadata() {
    return this.#turn.metadata
  }
  get signal() {
    return this.#turn.signal
  }
  get clock() {
    return this.#turn.clock
  }
  get logger() {
    return this.#turn.logger
  }

  abort(reason?: unknown): never {
    return this.#turn.abort(reason)
  }
  block(reason: string, options?: BlockOptions): never {
    return this.#turn.block(reason, options)
  }
  stop(reason?: string): void {
    this.#turn.stop(reason)
  }
  defer(promise: PromiseLike<unknown>): void {
    this.#turn.defer(promise)
  }
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T> {
    return this.#turn.once(key, fn)
  }
  emit(event: CustomEvent): void {
    this.#turn.emit(event)
  }
  provide<T>(capability: Capability<T>, value: T): void {
    this.#turn.provide(capability, value)
  }
  find<T>(capability: Capability<T>): T | undefined {
    return this.#turn.find(capability)
  }
}
