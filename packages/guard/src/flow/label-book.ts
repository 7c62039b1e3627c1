import type { Message, ModelResponse, TurnView } from '@allium/core'
import { isAttachment } from './label-scanner.ts'
import { hasNewLabels, type Labels, mergeLabels } from './labels.ts'
import type { DisplayedText } from './text-stream.ts'

export type LabelState = Record<string, Labels | null>

type StateContext = { state: LabelState }
type History = readonly Readonly<Message>[]

/** Keeps the labels of sessions in their state, and in memory what belongs to one history or one turn. */
export class LabelBook {
  readonly #key: string
  readonly #trustUnlabelled: boolean
  readonly #turns = new WeakMap<object, TurnLabels>()
  /** Histories by their first message, with their length when their labels were last written. */
  readonly #historyLengths = new WeakMap<object, number>()
  /** Labels that this process has seen. They distinguish a replaced history from one that has its own labels. */
  readonly #seen = new WeakSet<object>()

  constructor(key: string, trustUnlabelled: boolean) {
    this.#key = key
    this.#trustUnlabelled = trustUnlabelled
  }

  turnOf({ metadata }: TurnView): TurnLabels {
    let turn = this.#turns.get(metadata)
    if (turn === undefined) this.#turns.set(metadata, (turn = new TurnLabels()))
    return turn
  }

  /** Starts a turn. A history without labels of its own is untrusted, unless the option `unlabelled` trusts it. */
  open(ctx: TurnView<LabelState>): void {
    const labels = ctx.state[this.#key] ?? null
    const isUnlabelled = this.#isUnlabelled(ctx.history, labels)
    const initial: Labels = isUnlabelled && !this.#trustUnlabelled ? { untrusted: { kind: 'history' } } : {}
    if (labels === null || hasNewLabels(labels, initial)) ctx.state[this.#key] = initial
    this.rememberHistory(ctx)
  }

  rememberHistory(ctx: TurnView<LabelState>): void {
    const [labels, first] = [ctx.state[this.#key], ctx.history[0]]
    if (labels != null) this.#seen.add(labels)
    if (first !== undefined) this.#historyLengths.set(first, ctx.history.length)
  }

  /** The principal's own text needs no label. Answers, results and files in the input may come from anyone. */
  addInput(ctx: StateContext, { role, content }: Message): void {
    if (role === 'assistant' || role === 'tool') this.add(ctx, { untrusted: { kind: 'input' } })
    else if (typeof content !== 'string' && content.some(isAttachment))
      this.add(ctx, { untrusted: { kind: 'attachment' } })
  }

  /** Adds labels to the session's known labels. Returns all labels, or all except those known before. */
  add(ctx: StateContext, added: Labels, before: Labels = ctx.state[this.#key] ?? {}): Labels {
    const known = ctx.state[this.#key]
    if (known == null || hasNewLabels(known, added)) ctx.state[this.#key] = added
    return hasNewLabels(before, added) ? mergeLabels(before, added) : before
  }

  #isUnlabelled(history: History, labels: Labels | null): boolean {
    if (history.length === 0) return false
    return labels === null || (this.#seen.has(labels) && this.#isReplaced(history))
  }

  /** Whether the history that the labels belong to was replaced, or answers were added that no run produced. */
  #isReplaced(history: History): boolean {
    const length = this.#historyLengths.get(history[0] as object)
    return length === undefined || history.slice(length).some(({ role }) => role === 'assistant')
  }
}

/** What is known of a turn while it runs. */
class TurnLabels {
  /** The labels of the model call that made each tool call. */
  readonly #ofCalls = new Map<string, Labels>()
  /** The text that the turn has shown so far. */
  displayed: DisplayedText | undefined

  ofCall(callId: string): Labels | undefined {
    return this.#ofCalls.get(callId)
  }

  addCalls({ toolCalls }: ModelResponse, labels: Labels): void {
    for (const { callId } of toolCalls) this.#ofCalls.set(callId, mergeLabels(this.ofCall(callId) ?? {}, labels))
  }
}
