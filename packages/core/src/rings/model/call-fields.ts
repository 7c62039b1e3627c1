import { copyMessage } from '../../messages/copy-message.ts'
import type { Message } from '../../messages/message.ts'
import type { ModelRef, ResponseFormat, Settings, ToolChoice, ToolDef } from '../../model/model.ts'
import type { ModelResponse } from '../../model/response.ts'
import type { Frame } from '../../onion/next.ts'
import type { Sink } from '../../stream/sink.ts'

/** What layers may change of a model call, and what a re-entry sets back. Replaced, never changed in place. */
export interface CallFields {
  /** Undefined while nobody has looked: then the turn's working view is sent as it is. */
  readonly messages: Message[] | undefined
  readonly model: ModelRef
  readonly settings: Readonly<Settings>
  readonly toolDefs: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly responseFormat: ResponseFormat
  /** The answer of a layer that skips the call; it is that layer's own. */
  readonly skip: { readonly frame: Frame; readonly response: ModelResponse } | undefined
  /** Where the chunks of the call go. */
  readonly sink: Sink
}

type Changeable = 'messages' | 'settings' | 'toolDefs'

/** The fields of a call, with copies for each layer that looks at what it could change in place. */
export class OwnedFields {
  #owner: Frame | undefined
  #copied: Set<Changeable> | undefined

  constructor(
    public now: CallFields,
    /** Tells what would be sent. */
    readonly call: { readonly messages: readonly Message[] },
  ) {}

  /** Changes fields on behalf of a layer; one that was left behind changes nothing. */
  change(frame: Frame, change: Partial<CallFields>): void {
    if (!frame.alive) return
    this.#own(frame)
    this.now = { ...this.now, ...change }
  }

  /** A field that a layer may change in place: copied once for each layer that looks, so that a re-entry finds it as it was. */
  own<K extends Changeable>(frame: Frame, key: K): NonNullable<CallFields[K]> {
    this.#own(frame)
    if (this.#copied?.has(key) !== true) {
      const copy = this.#copyOf(key)
      if (!frame.alive) return copy as NonNullable<CallFields[K]>
      this.now = { ...this.now, [key]: copy }
      this.#copied ??= new Set()
      this.#copied.add(key)
    }
    return this.now[key] as NonNullable<CallFields[K]>
  }

  /** Sets the fields; what any layer holds of the old ones is its own copy from now on. */
  set(fields: CallFields): void {
    this.now = fields
    this.handOver()
  }

  handOver(): void {
    this.#owner = undefined
    this.#copied = undefined
  }

  #own(frame: Frame): void {
    if (this.#owner === frame) return
    this.#owner = frame
    this.#copied = undefined
  }

  #copyOf(key: Changeable): CallFields[Changeable] {
    if (key === 'messages') return this.call.messages.map(copyMessage)
    return key === 'settings' ? { ...this.now.settings } : [...this.now.toolDefs]
  }
}
