import type { Message } from '@allium/core'
import type { ResolvedCompactOptions } from './compact-options.ts'
import {
  type CompactView,
  type ConversationSize,
  clearResults,
  cutIndex,
  emptyView,
  newestInputBefore,
  replaceClearedResults,
  sizeOf,
} from './compact-view.ts'
import { fromFirstUserMessage } from './message-units.ts'
import { summaryMessage } from './summary.ts'

type Messages = readonly Readonly<Message>[]

/** The conversation of one model call, which the model sees through a view. */
export class Conversation {
  readonly #options: ResolvedCompactOptions<string>
  readonly #all: Messages
  readonly #system: Messages
  /** Without system messages, which views do not count. */
  readonly messages: Messages

  constructor(messages: Messages, options: ResolvedCompactOptions<string>) {
    this.#options = options
    this.#all = messages
    this.#system = messages.filter(({ role }) => role === 'system')
    this.messages = messages.filter(({ role }) => role !== 'system')
  }

  /** Returns the messages for the model: the summary, the input that was newest when it was made, and all later messages. */
  through(view: CompactView): Message[] {
    return [...this.#system.map((message) => ({ ...message })), ...this.#visible(view)]
  }

  sizeThrough(view: CompactView): ConversationSize {
    return sizeOf(view === emptyView ? this.#all : [...this.#system, ...this.#visible(view)], this.#options.count)
  }

  isTooLong(view: CompactView): boolean {
    const { limit } = this.#options
    const { messages, tokens } = this.sizeThrough(view)
    return messages > limit.messages || tokens > limit.tokens
  }

  /** Returns the view with old results cleared, if the strategy does that and it saves enough. */
  withClearedResults(view: CompactView): CompactView {
    const { strategy, limit, clearing } = this.#options
    const { tokens } = this.sizeThrough(view)
    if (strategy === 'summarise' || (strategy === 'hybrid' && tokens <= limit.tokens)) return view
    const clearedView = clearResults(this.messages, view, clearing)
    const savedTokens = tokens - this.sizeThrough(clearedView).tokens
    return savedTokens > 0 && savedTokens >= clearing.atLeast ? clearedView : view
  }

  /** Returns the view that covers all older messages; undefined if the strategy keeps them, or all of them fit or are covered. */
  withOlderCovered(view: CompactView): CompactView | undefined {
    const { strategy, keepSize, clearing, count } = this.#options
    if (strategy === 'clear' || !this.isTooLong(view)) return undefined
    const covered = cutIndex(replaceClearedResults(this.messages, view, clearing), keepSize, count)
    if (covered <= view.covered) return undefined
    return { ...view, covered, input: newestInputBefore(this.messages, covered), seen: Math.max(view.seen, covered) }
  }

  #visible({ summary, input, covered, ...view }: CompactView): Message[] {
    const all = replaceClearedResults(this.messages, view, this.#options.clearing)
    const before = summary === '' ? [] : [summaryMessage(summary)]
    const kept = [...before, ...all.slice(input.from, input.to), ...all.slice(covered)]
    return covered === 0 ? kept : fromFirstUserMessage(kept)
  }
}
