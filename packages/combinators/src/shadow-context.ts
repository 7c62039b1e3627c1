import { AbortError, BlockError, type Message, messageOf, type ReadonlyHistory } from '@allium/core'
import type { InnerRun, OnceOptions, OnInput } from '@allium/core/context'
import { attemptKey, type Fork, isThenable } from '@allium/core/internal'
import type { AnyContext } from './combine.ts'
import { copyOf, sameJson } from './copy.ts'
import { shadowHistory } from './shadow-history.ts'
import type { ShadowSession, ShadowSessions } from './shadow-session.ts'
import { silence } from './thenable.ts'

type Fields = Record<PropertyKey, unknown>

/**
 * The context of a shadow. Members of the fork belong to the fork. All others are read as copies and written to an overlay. A method
 * that is neither does nothing and is recorded, so that a method added to contexts later cannot leak.
 */
export class ShadowContext {
  readonly ctx: AnyContext
  /** The changes that it would have made, each once. */
  readonly changes = new Set<string>()
  /** The abort or block that would have ended the run. */
  ending: { decision: 'abort' | 'block'; reason?: string } | undefined
  /** The reason of a stop. */
  stopReason: string | undefined
  /** Values read or written of members that are not the fork's. */
  readonly overlaid = new Map<PropertyKey, unknown>()
  /** Transforms of the input at next(). */
  readonly inputs: OnInput[] = []
  /** The original input and messages of the turn. */
  readonly #originals = new Map<PropertyKey, unknown>()
  readonly #verbs: Fields

  constructor(
    readonly real: AnyContext,
    readonly fork: Fork,
    readonly session: ShadowSession,
    sessions: ShadowSessions,
  ) {
    this.#verbs = this.#verbsOf(sessions)
    this.ctx = new Proxy({} as AnyContext, {
      get: (_, key) => (key === attemptKey ? fork.ctx : isHidden(key) ? undefined : this.#get(key)),
      set: (_, key, value) => this.#set(key, value),
      has: (_, key) => !isHidden(key) && key in real,
      deleteProperty: () => false,
      defineProperty: () => false,
      setPrototypeOf: () => false,
    })
  }

  /** Records changes that were made in place. */
  compare(): void {
    for (const key of this.fork.changed) this.changes.add(key)
    for (const [key, original] of this.#originals)
      if (!sameJson(original, this.overlaid.get(key))) this.changes.add(String(key))
  }

  /** Applies the layer's transforms to copies of the input. */
  async applyInput(): Promise<void> {
    for (const fn of this.inputs.splice(0)) {
      const transformed: Message[] = []
      for (const message of this.#get('input') as readonly Message[]) {
        const result = await fn(copyOf(message) as Message, { steered: false, ctx: this.ctx as never })
        if (result !== null) transformed.push(result ?? message)
      }
      if (!sameJson(transformed, this.#get('input'))) this.#set('input', transformed)
    }
  }

  /** Records a change that the layer would have made. */
  addChange(change: PropertyKey): void {
    this.changes.add(String(change))
  }

  /** Replacements for methods that would affect the run, where recording the name is not enough. */
  #verbsOf(sessions: ShadowSessions): Fields {
    const { real, session } = this
    return {
      abort: (reason?: unknown) => this.#end('abort', toAbortError(reason), reason),
      block: (reason: string, details?: object) => this.#end('block', new BlockError(reason, details), reason),
      stop: (reason = 'stopped') => {
        this.stopReason ??= reason
        this.addChange('stop')
      },
      onInput: (fn: OnInput) => this.inputs.push(fn),
      emit: (event: { type?: string }) => this.addChange(`event ${event?.type}`),
      registerTool: (tool: { name?: string }) => this.addChange(`tool ${tool?.name}`),
      once: (key: string, fn: (inner: InnerRun) => unknown, options?: OnceOptions) =>
        options?.per === 'attempt' ? fn({}) : session.once(`${real.callId ?? ''}:${key}`, () => fn({})),
      on: (name: never, listener: (event: never) => unknown) => real.on(name, isolateListener(listener)),
      provide: ({ name }: { name: string }, value: unknown) => {
        session.provided.set(name, value)
        this.addChange(`capability ${name}`)
      },
      find: (capability: { name: string }) => this.#provided(sessions, capability),
    }
  }

  /** Returns a capability that the shadow provided itself, or else the run's. */
  #provided(sessions: ShadowSessions, capability: { name: string }) {
    const own = [this.session, sessions.agent].find(({ provided }) => provided.has(capability.name))
    return own === undefined ? this.real.find(capability) : own.provided.get(capability.name)
  }

  #end(decision: 'abort' | 'block', error: Error, reason: unknown): never {
    this.ending ??= { decision, ...(reason !== undefined && { reason: messageOf(reason) }) }
    return this.fork.end(error)
  }

  #get(key: PropertyKey): unknown {
    if (this.overlaid.has(key)) return this.overlaid.get(key)
    if (this.fork.own.has(key)) return bindMember(this.fork.ctx, key)
    const value = (this.real as unknown as Fields)[key]
    if (typeof value === 'function') return this.#verbs[key] ?? this.#recordVerb(key)
    if (typeof value !== 'object' || value === null || services.has(key)) return value
    if (key === 'usage') return copyOf(value)
    if (key === 'state') return this.session.state(value as Fields, (name) => this.addChange(`state ${String(name)}`))
    if (key === 'metadata')
      return this.session.metadata(value as Fields, (name) => this.addChange(`metadata ${String(name)}`))
    const own = key === 'history' ? shadowHistory(value as ReadonlyHistory, () => this.addChange(key)) : copyOf(value)
    if (key === 'input' || key === 'messages') this.#originals.set(key, copyOf(value))
    this.overlaid.set(key, own)
    return own
  }

  #set(key: PropertyKey, value: unknown): boolean {
    if (this.fork.own.has(key)) return Reflect.set(this.fork.ctx, key, value)
    this.overlaid.set(key, value)
    this.addChange(key)
    return true
  }

  #recordVerb(verb: PropertyKey): (...args: unknown[]) => void {
    return (...args) => {
      for (const arg of args) if (isThenable(arg)) silence(arg)
      this.addChange(verb)
    }
  }
}

/** Members that contain nothing of the run. */
const services = new Set<PropertyKey>(['clock', 'logger', 'signal'])

function isHidden(key: PropertyKey): boolean {
  return typeof key !== 'string' || key.startsWith('$')
}

function bindMember(attempt: object, key: PropertyKey): unknown {
  const value: unknown = Reflect.get(attempt, key)
  return typeof value === 'function' ? value.bind(attempt) : value
}

/** Returns a listener that receives copies of events and whose errors are dropped. */
function isolateListener(listener: (event: never) => unknown): (event: never) => void {
  return (event) => {
    try {
      const result = listener(copyOf(event))
      if (isThenable(result)) silence(result)
    } catch {
      // an error of the shadow
    }
  }
}

function toAbortError(reason: unknown): Error {
  return reason instanceof Error && reason.name === 'AbortError' ? reason : new AbortError(reason)
}
